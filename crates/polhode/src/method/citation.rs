//! The works that the citations of methods name, in full.
//!
//! The entries are those of the works and of their lists of references; a field that could not be established is left out.

use core::fmt;

/// One work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// As citations name it.
    pub label: &'static str,
    /// Key of its BibTeX entry.
    pub key: &'static str,
    /// Authors, family name first.
    pub authors: &'static [&'static str],
    /// Title.
    pub title: &'static str,
    /// Where it appeared.
    pub source: Source,
    /// Year, where it is known.
    pub year: Option<u16>,
    /// Digital object identifier, where it is known.
    pub doi: Option<&'static str>,
}

/// Where a work appeared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In a journal.
    Journal {
        /// Its name.
        name: &'static str,
        /// Volume, with the number in parentheses where it is known.
        volume: &'static str,
        /// Pages, or the number of the article.
        pages: &'static str,
    },
    /// In the proceedings of a conference.
    Proceedings {
        /// Their title.
        title: &'static str,
        /// Their editors, family name first.
        editors: &'static [&'static str],
    },
    /// What else is known of it.
    Other(&'static str),
}

/// The works, by year.
pub const WORKS: &[Work] = &[
    Work {
        label: "Andersen 1983",
        key: "Andersen1983",
        authors: &["Andersen, H. C."],
        title: "Rattle: a 'velocity' version of the Shake algorithm for molecular dynamics calculations",
        source: Source::Journal { name: "Journal of Computational Physics", volume: "52(1)", pages: "24-34" },
        year: Some(1983),
        doi: Some("10.1016/0021-9991(83)90014-1"),
    },
    Work {
        label: "Cardona & Géradin 1988",
        key: "CardonaGeradin1988",
        authors: &["Cardona, A.", "Géradin, M."],
        title: "A beam finite element non-linear theory with finite rotations",
        source: Source::Journal {
            name: "International Journal for Numerical Methods in Engineering",
            volume: "26",
            pages: "2403-2438",
        },
        year: Some(1988),
        doi: Some("10.1002/nme.1620261105"),
    },
    Work {
        label: "Suzuki 1990",
        key: "Suzuki1990",
        authors: &["Suzuki, M."],
        title: "Fractal decomposition of exponential operators with applications to many-body theories and Monte Carlo \
                simulations",
        source: Source::Journal { name: "Physics Letters A", volume: "146(6)", pages: "319-323" },
        year: Some(1990),
        doi: Some("10.1016/0375-9601(90)90962-N"),
    },
    Work {
        label: "Simo & Wong 1991",
        key: "SimoWong1991",
        authors: &["Simo, J. C.", "Wong, K. K."],
        title: "Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and momentum",
        source: Source::Journal {
            name: "International Journal for Numerical Methods in Engineering",
            volume: "31",
            pages: "19-52",
        },
        year: Some(1991),
        doi: Some("10.1002/nme.1620310103"),
    },
    Work {
        label: "Austin, Krishnaprasad & Wang 1993",
        key: "AustinKrishnaprasadWang1993",
        authors: &["Austin, M.", "Krishnaprasad, P. S.", "Wang, L. S."],
        title: "Almost Lie-Poisson integrators for the rigid body",
        source: Source::Journal { name: "Journal of Computational Physics", volume: "107", pages: "105-117" },
        year: Some(1993),
        doi: None,
    },
    Work {
        label: "Kahan & Li 1997",
        key: "KahanLi1997",
        authors: &["Kahan, W.", "Li, R.-C."],
        title: "Composition constants for raising the orders of unconventional schemes for ordinary differential \
                equations",
        source: Source::Journal { name: "Mathematics of Computation", volume: "66(219)", pages: "1089-1099" },
        year: Some(1997),
        doi: Some("10.1090/S0025-5718-97-00873-9"),
    },
    Work {
        label: "Bottasso & Borri 1998",
        key: "BottassoBorri1998",
        authors: &["Bottasso, C. L.", "Borri, M."],
        title: "Integrating finite rotations",
        source: Source::Journal {
            name: "Computer Methods in Applied Mechanics and Engineering",
            volume: "164",
            pages: "307-331",
        },
        year: Some(1998),
        doi: None,
    },
    Work {
        label: "Munthe-Kaas 1998",
        key: "MuntheKaas1998",
        authors: &["Munthe-Kaas, H."],
        title: "Runge-Kutta methods on Lie groups",
        source: Source::Journal { name: "BIT Numerical Mathematics", volume: "38(1)", pages: "92-111" },
        year: Some(1998),
        doi: Some("10.1007/BF02510919"),
    },
    Work {
        label: "Gonzalez 1999",
        key: "Gonzalez1999",
        authors: &["Gonzalez, O."],
        title: "Mechanical systems subject to holonomic constraints: differential-algebraic formulations and conservative \
                integration",
        source: Source::Journal { name: "Physica D", volume: "132(1-2)", pages: "165-174" },
        year: Some(1999),
        doi: Some("10.1016/S0167-2789(99)00054-8"),
    },
    Work {
        label: "Mäkinen 2001",
        key: "Makinen2001",
        authors: &["Mäkinen, J."],
        title: "Critical study of Newmark-scheme on manifold of finite rotations",
        source: Source::Journal {
            name: "Computer Methods in Applied Mechanics and Engineering",
            volume: "191",
            pages: "817-828",
        },
        year: Some(2001),
        doi: None,
    },
    Work {
        label: "Krysl 2006",
        key: "Krysl2006",
        authors: &["Krysl, P."],
        title: "Dynamically equivalent implicit algorithms for the integration of rigid body rotations",
        source: Source::Other("John Wiley & Sons"),
        year: Some(2006),
        doi: None,
    },
    Work {
        label: "Brüls & Eberhard 2008",
        key: "BrulsEberhard2008",
        authors: &["Brüls, O.", "Eberhard, P."],
        title: "Sensitivity analysis for dynamic mechanical systems with finite rotations",
        source: Source::Other("University of Liège and University of Stuttgart"),
        year: Some(2008),
        doi: None,
    },
    Work {
        label: "Bauchau et al. 2013",
        key: "Bauchau2013",
        authors: &["Bauchau, O. A.", "Xin, H.", "Dong, S.", "Li, Z.", "Han, S."],
        title: "Intrinsic time integration procedures for rigid body dynamics",
        source: Source::Journal {
            name: "Journal of Computational and Nonlinear Dynamics",
            volume: "8(1)",
            pages: "011006",
        },
        year: Some(2013),
        doi: None,
    },
    Work {
        label: "Krenk & Nielsen 2013",
        key: "KrenkNielsen2013",
        authors: &["Krenk, S.", "Nielsen, M. B."],
        title: "Rigid body time integration by convected base vectors with implicit constraints",
        source: Source::Proceedings {
            title: "COMPDYN 2013, 4th ECCOMAS Thematic Conference on Computational Methods in Structural Dynamics and \
                    Earthquake Engineering",
            editors: &["Papadrakakis, M.", "Papadopoulos, V.", "Plevris, V."],
        },
        year: Some(2013),
        doi: None,
    },
    Work {
        label: "Kasti",
        key: "Kasti",
        authors: &["Kasti, N. A."],
        title: "A numerical integration scheme for the dynamic motion of rigid bodies using the Euler parameters",
        source: Source::Other("Taibah University"),
        year: None,
        doi: None,
    },
];

/// The works that a citation names, [`super::Row::citation`] or [`super::Method::citation`].
///
/// ```
/// use polhode::method::{Method, works_cited};
/// let method = Method::parse("swc1")?;
/// let works: Vec<_> = works_cited(method.citation()).collect();
/// assert_eq!((works[0].label, works[0].doi), ("Simo & Wong 1991", Some("10.1002/nme.1620310103")));
/// # Ok::<(), polhode::method::MethodError>(())
/// ```
pub fn works_cited(citation: &str) -> impl Iterator<Item = &'static Work> {
    WORKS.iter().filter(move |work| citation.contains(work.label))
}

/// The work as a line of a list of references.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}. ", self.authors.join(", "), self.title)?;
        match self.source {
            Source::Journal { name, volume, pages } => write!(f, "{name} {volume}, {pages}")?,
            Source::Proceedings { title, editors } => {
                write!(f, "In {title}, edited by {}", editors.join(", "))?
            }
            Source::Other(text) => f.write_str(text)?,
        }
        if let Some(year) = self.year {
            write!(f, ", {year}")?;
        }
        if let Some(doi) = self.doi {
            write!(f, ". https://doi.org/{doi}")?;
        }
        Ok(())
    }
}

impl Work {
    /// The work as an entry of a BibTeX file.
    pub fn bibtex(&self) -> String {
        let (kind, mut fields) = match self.source {
            Source::Journal { name, volume, pages } => {
                let (volume, number) = volume.split_once('(').unwrap_or((volume, ""));
                let mut fields = vec![("journal", tex(name)), ("volume", volume.into())];
                if let Some(number) = number.strip_suffix(')') {
                    fields.push(("number", number.into()));
                }
                fields.push(("pages", pages.replace('-', "--")));
                ("article", fields)
            }
            Source::Proceedings { title, editors } => {
                ("inproceedings", vec![("booktitle", tex(title)), ("editor", tex(&editors.join(" and ")))])
            }
            Source::Other(text) => ("misc", vec![("howpublished", tex(text))]),
        };
        // Braces keep the capitals of names.
        fields.splice(
            0..0,
            [("author", tex(&self.authors.join(" and "))), ("title", format!("{{{}}}", tex(self.title)))],
        );
        fields.extend(self.year.map(|year| ("year", year.to_string())));
        fields.extend(self.doi.map(|doi| ("doi", doi.into())));
        let lines: Vec<String> =
            fields.iter().map(|(name, value)| format!("  {name} = {{{value}}}")).collect();
        format!("@{kind}{{{},\n{}\n}}\n", self.key, lines.join(",\n"))
    }
}

/// Text with what TeX reads otherwise written its way.
fn tex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            'ä' => out.push_str(r#"{\"a}"#),
            'ü' => out.push_str(r#"{\"u}"#),
            'é' => out.push_str(r"{\'e}"),
            'è' => out.push_str(r"{\`e}"),
            '&' => out.push_str(r"\&"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::composition::SETS;
    use super::super::{KINEMATIC, REGISTRY, SYSTEMS};
    use super::*;

    /// Every citation with the id of its method.
    fn citations() -> Vec<(String, &'static str)> {
        let rows = REGISTRY.iter().chain(KINEMATIC).chain(SYSTEMS).map(|row| (row.id.into(), row.citation));
        rows.chain(SETS.iter().map(|set| (format!("composition of order {}", set.order), set.citation)))
            .collect()
    }

    #[test]
    fn every_part_of_a_citation_names_one_work() {
        for (id, citation) in citations() {
            for part in citation.split(';') {
                assert_eq!(works_cited(part).count(), 1, "{id}: {part}");
            }
        }
    }

    #[test]
    fn every_work_is_cited_and_has_a_key_of_its_own() {
        for (i, work) in WORKS.iter().enumerate() {
            assert!(citations().iter().any(|(_, text)| text.contains(work.label)), "{}", work.label);
            assert!(WORKS[..i].iter().all(|other| other.key != work.key), "{}", work.key);
        }
    }

    #[test]
    fn entries_are_bibtex() {
        for work in WORKS {
            let entry = work.bibtex();
            assert!(entry.is_ascii(), "{entry}");
            let depth = entry.chars().try_fold(0i32, |depth, c| match c {
                '{' => Some(depth + 1),
                '}' if depth > 0 => Some(depth - 1),
                '}' => None,
                _ => Some(depth),
            });
            assert_eq!(depth, Some(0), "{entry}");
            assert!(!entry.replace(r"\&", "").contains('&'), "{entry}");
            for field in ["author = {", "title = {{"] {
                assert!(entry.contains(field), "{entry}");
            }
        }
        let simo = WORKS.iter().find(|work| work.key == "SimoWong1991").unwrap();
        assert_eq!(
            simo.bibtex(),
            "@article{SimoWong1991,\n  author = {Simo, J. C. and Wong, K. K.},\n  title = {{Unconditionally stable \
             algorithms for rigid body dynamics that exactly preserve energy and momentum}},\n  journal = {International \
             Journal for Numerical Methods in Engineering},\n  volume = {31},\n  pages = {19--52},\n  year = {1991},\n  \
             doi = {10.1002/nme.1620310103}\n}\n"
        );
    }
}
