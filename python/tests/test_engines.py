"""Sweeps by the workers of Dask, MPI and Ray: the same bytes, whatever of them is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import polhode
import pytest
from polhode import _sweep

VARY = {"mgl": {"uniform": [10, 20]}, "omega_body_z": [40.0, 50.0]}
# Long enough to be killed in the middle of it.
LONG = 1.0


def plan(until=0.05):
    return polhode.plan("fast-top", VARY, runs=40, until=until, step=1e-4, keep=["omega_body_x", "drift"], seed=3)


def whole(folder, made):
    """The bytes of a table that one thread computes."""
    return polhode.sweep(made, out=folder, threads=1).table.read_bytes()


def poisoned(made, hash_, first, last, folder, ticket):
    """A worker that the run 11 kills."""
    if first <= 11 < last:
        os.kill(os.getpid(), signal.SIGKILL)
    return _sweep._compute(made, hash_, first, last, folder, ticket)


class Poison:
    """An executor whose workers meet that run."""

    def __init__(self, executor):
        self.executor = executor

    def submit(self, function, /, *args):
        return self.executor.submit(poisoned, *args)


def is_one_row(path):
    rows = path.read_text().splitlines()
    return len(rows) == 41 and "worker" in rows[12] and all(row.endswith("ok") for row in rows[1:12] + rows[13:])


@pytest.fixture(scope="module")
def distributed():
    distributed = pytest.importorskip("distributed")
    import dask

    wishes = {
        "distributed.comm.timeouts.connect": "1s",
        "distributed.scheduler.allowed-failures": 0,
        "distributed.logging": {"distributed": "critical"},
    }
    with dask.config.set(wishes):
        yield distributed


class Cluster:
    """A scheduler and two workers of Dask, each a process of its own."""

    def __init__(self, folder):
        told = folder / "scheduler.json"
        where = ["--host", "127.0.0.1", "--no-dashboard"]
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--scheduler-file", str(told), *where)
        until = time.monotonic() + 20
        while not told.exists() and time.monotonic() < until:
            time.sleep(0.05)
        self.address = json.loads(told.read_text())["address"]
        options = ["--nthreads", "1", "--no-nanny", "--death-timeout", "60", *where]
        self.workers = [self._start("dask_worker", self.address, *options) for _ in range(2)]

    @staticmethod
    def _start(name, *words):
        command = [sys.executable, "-m", f"distributed.cli.{name}", *words]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


DRIVER = """
import sys, polhode, test_engines
from distributed import Client
with Client(sys.argv[1]) as client:
    polhode.sweep(test_engines.plan(test_engines.LONG), client, out=sys.argv[2], chunk=2)
"""


def at_half(done, then):
    """Does something once, when half is done."""

    def progress(part):
        if part >= 0.5 and not done:
            done.append(part)
            then()

    return progress


def test_dask(tmp_path, distributed):
    made = plan(LONG)
    expected = whole(tmp_path / "one", made)
    with Cluster(tmp_path) as cluster:
        with distributed.Client(cluster.address) as client:
            client.wait_for_workers(2, timeout=20)
            assert _sweep._workers(client) == 2
            for name, executor in (("client", client), ("executor", client.get_executor())):
                assert polhode.sweep(made, executor, out=tmp_path / name, chunk=7).table.read_bytes() == expected
                # What was computed and lost is computed again, not remembered.
                shutil.rmtree(tmp_path / name / "chunks")
                assert polhode.sweep(made, executor, out=tmp_path / name, chunk=7).table.read_bytes() == expected

        # The driver is killed, and another one goes on.
        out = tmp_path / "driver"
        told = {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, cluster.address, str(out)], env=os.environ | told)
        while len(list(out.glob("chunks/*.chunk"))) < 6:
            assert driver.poll() is None
            time.sleep(0.01)
        driver.kill()
        driver.wait()
        assert not (out / "table.parquet").exists()
        with distributed.Client(cluster.address) as client:
            assert polhode.sweep(made, client, out=out, chunk=2).table.read_bytes() == expected

            # A worker is killed in the middle of a chunk, by somebody else.
            done = []
            kill = at_half(done, cluster.workers[0].kill)
            result = polhode.sweep(made, client, out=tmp_path / "worker", chunk=2, progress=kill)
            assert done and result.failed == 0 and result.table.read_bytes() == expected

        # The scheduler is killed; what was computed is there.
        client = distributed.Client(cluster.address)
        done, out = [], tmp_path / "scheduler"
        with pytest.raises(polhode.EngineLost, match="resume=True"):
            polhode.sweep(made, client, out=out, chunk=2, progress=at_half(done, cluster.scheduler.kill))
        client.close()
        chunks = {path: path.stat().st_mtime_ns for path in out.glob("chunks/*.chunk")}
        assert done and 10 <= len(chunks) < 20
    assert polhode.sweep(made, out=out, chunk=2).table.read_bytes() == expected
    assert all(path.stat().st_mtime_ns == before for path, before in chunks.items())


@pytest.mark.skipif("POLHODE_LONG" not in os.environ, reason="workers that start again take a while; see POLHODE_LONG")
def test_dask_isolates_a_run_that_kills_its_worker(tmp_path, distributed):
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        result = polhode.sweep(plan(), Poison(client), out=tmp_path, chunk=2, table=tmp_path / "table.csv")
    assert (result.ok, result.failed) == (39, 1) and is_one_row(tmp_path / "table.csv")


MPI = """
import os, pathlib, sys, polhode, test_engines
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    out, what, until = sys.argv[1], sys.argv[2], float(sys.argv[3])
    pathlib.Path(out + ".pid").write_text(str(os.getpid()))
    with MPIPoolExecutor() as pool:
        assert pool.num_workers == 2
        pool = test_engines.Poison(pool) if what == "poison" else pool
        polhode.sweep(test_engines.plan(until), pool, out=out, chunk=2 if until > 0.5 else 7)
"""


def test_mpi(tmp_path):
    pytest.importorskip("mpi4py", exc_type=ImportError)
    start = shutil.which("mpiexec")
    if start is None:
        pytest.skip("there is no mpiexec")
    script = tmp_path / "script.py"
    script.write_text(MPI)
    told = {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    # Open MPI: as root, and more processes than cores.
    told |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}

    def words(out, what, until=0.05):
        return [start, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script), str(out), what, str(until)]

    def mpi(*asked):
        return subprocess.run(words(*asked), env=os.environ | told, capture_output=True, text=True, timeout=60)

    done = mpi(tmp_path / "out", "plain")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "table.parquet").read_bytes() == whole(tmp_path / "one", plan())
    # MPI ends all processes with the one that is killed: what was computed is kept, and goes on.
    out = tmp_path / "killed"
    assert mpi(out, "poison").returncode != 0
    assert not (out / "table.parquet").exists() and list(out.glob("chunks/*.plan"))
    assert mpi(out, "plain").returncode == 0
    assert (out / "table.parquet").read_bytes() == whole(tmp_path / "one", plan())
    # The driver is killed, and all others end with it.
    out = tmp_path / "driver"
    under_way = subprocess.Popen(words(out, "plain", LONG), env=os.environ | told, stderr=subprocess.DEVNULL)
    while len(list(out.glob("chunks/*.chunk"))) < 6:
        assert under_way.poll() is None
        time.sleep(0.01)
    os.kill(int((tmp_path / "driver.pid").read_text()), signal.SIGKILL)
    assert under_way.wait(timeout=60) != 0 and not (out / "table.parquet").exists()
    assert mpi(out, "plain", LONG).returncode == 0
    assert (out / "table.parquet").read_bytes() == whole(tmp_path / "long", plan(LONG))


def test_ray(tmp_path):
    ray = pytest.importorskip("ray")
    import polhode.ray

    with pytest.raises(polhode.EngineLost, match="ray.init"):
        polhode.sweep(plan(), polhode.ray.Workers(), out=tmp_path / "none", in_flight=2)
    seen = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=seen)
    try:
        result = polhode.sweep(plan(), polhode.ray.Workers(), out=tmp_path / "ray", chunk=7)
        assert result.table.read_bytes() == whole(tmp_path / "one", plan())
        poison = Poison(polhode.ray.Workers())
        result = polhode.sweep(plan(), poison, out=tmp_path / "poison", chunk=2, table=tmp_path / "table.csv")
        assert (result.ok, result.failed) == (39, 1) and is_one_row(tmp_path / "table.csv")
    finally:
        ray.shutdown()


RAY = """
import os, sys, polhode, polhode.ray, ray, test_engines
seen = {"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}}
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=seen, _temp_dir=sys.argv[1])
polhode.sweep(test_engines.plan(test_engines.LONG), polhode.ray.Workers(), out=sys.argv[2], chunk=2)
"""


@pytest.mark.skipif("POLHODE_LONG" not in os.environ, reason="Ray waits for its head for a while; see POLHODE_LONG")
def test_ray_whose_head_is_killed(tmp_path):
    pytest.importorskip("ray")
    out = tmp_path / "out"
    told = {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    told["RAY_gcs_rpc_server_reconnect_timeout_s"] = "5"
    # Sockets want short names.
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        driver = subprocess.Popen([sys.executable, "-c", RAY, folder, str(out)], env=os.environ | told)
        while len(list(out.glob("chunks/*.chunk"))) < 4:
            assert driver.poll() is None
            time.sleep(0.01)
        for part in ("gcs_server", "raylet"):
            subprocess.run(["pkill", "-KILL", "-P", str(driver.pid), part], check=True)
        # Ray ends whoever has begun it, with words of its own.
        assert driver.wait(timeout=120) != 0 and not (out / "table.parquet").exists()
    chunks = {path: path.stat().st_mtime_ns for path in out.glob("chunks/*.chunk")}
    assert polhode.sweep(plan(LONG), out=out, chunk=2).table.read_bytes() == whole(tmp_path / "one", plan(LONG))
    assert all(path.stat().st_mtime_ns == before for path, before in chunks.items())
