//! Models: a problem of the library, which never changes; what is set or added makes another one.

use crate::errors;
use crate::loads::{Callback, Trouble};
use crate::rows;
use polhode::body::{ByDifferences, Own};
use polhode::method::Method;
use polhode::problem::{Model, Problem as Source};
use polhode_cli::host;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A model with its parameters as they are set.
#[pyclass(frozen, module = "polhode")]
pub struct Problem {
    pub source: Source,
    model: OnceLock<Arc<Model>>,
    /// What its callables raised.
    pub trouble: Trouble,
}

/// Tells what a reader had to say.
fn warn(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    for note in notes {
        let text = std::ffi::CString::new(note.trim_start_matches("note: ").trim_start_matches("warning: "))?;
        PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), &text, 2)?;
    }
    Ok(())
}

impl Problem {
    fn of(source: Source, trouble: Trouble) -> Self {
        Problem { source, model: OnceLock::new(), trouble }
    }
    /// The exception that a callable has raised, or this one.
    pub fn raised(&self, otherwise: impl FnOnce() -> PyErr) -> PyErr {
        self.trouble.take().unwrap_or_else(otherwise)
    }
    /// A model of its own, with loads that nobody else sets.
    pub fn fresh(&self, py: Python<'_>) -> PyResult<Arc<Model>> {
        let made = self.source.model();
        made.map(Arc::new).map_err(|mistake| self.raised(|| errors::of_mistake(py, &mistake)))
    }
    /// Its model, made once.
    pub fn model(&self, py: Python<'_>) -> PyResult<Arc<Model>> {
        match self.model.get() {
            Some(model) => Ok(model.clone()),
            None => {
                let made = self.fresh(py)?;
                Ok(self.model.get_or_init(|| made).clone())
            }
        }
    }
    /// The method by its id, fit for the model and the time.
    pub fn method(&self, py: Python<'_>, model: &Model, id: &str, until: f64) -> PyResult<Method> {
        host::method(model, id, until).map_err(|refusal| errors::of_refusal(py, &refusal))
    }
}

#[pymethods]
impl Problem {
    /// Of the catalogue, or from a file.
    #[staticmethod]
    fn find(py: Python<'_>, word: &str) -> PyResult<Self> {
        let (found, notes) = host::model(word);
        warn(py, &notes)?;
        found
            .map(|source| Self::of(source, Trouble::default()))
            .map_err(|refusal| errors::of_refusal(py, &refusal))
    }
    /// From its text; tables are in the folder.
    #[staticmethod]
    fn read(py: Python<'_>, name: &str, text: &str, folder: &str) -> PyResult<Self> {
        let (found, notes) = host::model_of_text(name, text, Path::new(folder));
        warn(py, &notes)?;
        found
            .map(|source| Self::of(source, Trouble::default()))
            .map_err(|refusal| errors::of_refusal(py, &refusal))
    }
    /// The same with parameters set, as `--set` does.
    fn with_values(&self, pairs: Vec<(String, String)>) -> PyResult<Self> {
        let mut source = self.source.clone();
        for (name, text) in &pairs {
            source.set(name, text).map_err(errors::value)?;
        }
        Ok(Self::of(source, self.trouble.clone()))
    }
    /// The same with a load on a body that a callable computes.
    fn with_load(
        &self,
        body: &str,
        function: Py<PyAny>,
        with_slopes: bool,
        by_differences: bool,
        vectorized: bool,
    ) -> Self {
        let mut source = self.source.clone();
        let callback = Callback::new(function, with_slopes, vectorized, self.trouble.clone());
        source.add_load(
            body,
            match by_differences {
                true => Own::sampled(ByDifferences(callback)),
                false => Own::sampled(callback),
            },
        );
        Self::of(source, self.trouble.clone())
    }
    /// Its id, or the name of its file.
    #[getter]
    fn id(&self) -> &str {
        &self.source.id
    }
    #[getter]
    fn title(&self) -> &str {
        &self.source.title
    }
    #[getter]
    fn text(&self) -> &str {
        self.source.file().text()
    }
    /// The method, step and end time that it says, where it does.
    #[getter]
    fn defaults(&self) -> (&str, Option<f64>, Option<f64>, Option<u64>) {
        let said = |x: f64| (!x.is_nan()).then_some(x);
        (&self.source.method, said(self.source.step), said(self.source.until), self.source.every)
    }
    /// Its own parameters: name, values, what it is.
    #[getter]
    fn data(&self) -> Vec<(String, Vec<f64>, String)> {
        self.source.data().iter().map(|d| (d.name.clone(), d.values.clone(), d.help.clone())).collect()
    }
    /// Everything that can be differentiated, with its value.
    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let elements = self.source.elements().map_err(|mistake| errors::of_mistake(py, &mistake))?;
        let own = self.source.parameters().into_iter().map(|p| (p.name, p.value));
        Ok(own.chain(elements.into_iter().map(|p| (p.name, p.value))).collect())
    }
    /// `so3`, `se3` or `system`.
    fn group(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.model(py)?.group())
    }
    /// What its runs can keep: kind and name of the owner, key, column, unit, components, usual.
    fn quantities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        rows::listed(py, &self.model(py)?.start())
    }
    /// The names of its bodies and joints.
    fn names(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        let model = self.model(py)?;
        let system = model.system();
        let bodies = system.bodies().iter().map(|body| body.name.clone()).collect();
        Ok((bodies, system.joints().iter().map(|joint| joint.name.clone()).collect()))
    }
}
