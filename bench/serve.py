"""How long whoever asks `pursuit serve` waits for an answer. Called by bench/serve."""
import argparse
import http.client
import json
import signal
import subprocess
import tempfile
import threading
import time

import numpy as np


LISTS = {
    "recommend_many_seconds": "recommend_many, of all columns",
    "without_seen_seconds": "recommend_many, without what was seen",
    "faiss_seconds": "faiss, exact search of the exported vectors",
}


def started(program, model):
    server = subprocess.Popen([program, "serve", model, "--port", "0"], stdout=subprocess.PIPE, text=True)
    return server, int(server.stdout.readline().rsplit(":", 1)[1])


def ask(port, questions, until, waits):
    """One client with one connection, asking again as soon as it is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    k = 0
    while time.perf_counter() < until:
        method, target, body = questions[k % len(questions)]
        start = time.perf_counter()
        connection.request(method, target, body)
        answer = connection.getresponse()
        text = answer.read()
        waits.append(time.perf_counter() - start)
        if answer.status != 200:
            raise SystemExit(f"{method} {target}: {answer.status} {text[:200]!r}")
        k += 1
    connection.close()


def measured(port, questions, clients, seconds):
    until = time.perf_counter() + seconds
    waits = [[] for _ in range(clients)]
    threads = [threading.Thread(target=ask, args=(port, questions, until, own)) for own in waits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    all_of_them = 1e3 * np.concatenate(waits)
    return {
        "answers_per_second": len(all_of_them) / seconds,
        "p50_ms": float(np.percentile(all_of_them, 50)),
        "p99_ms": float(np.percentile(all_of_them, 99)),
    }


def seconds_of(work, repeat=5):
    """CPU seconds of one call, the best of several."""
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def lists_in_python(path):
    import pursuit

    model = pursuit.load(path)
    model.set_params(n_jobs=1)
    figures = {"recommend_many_seconds": seconds_of(lambda: model.recommend_many(n=10, exclude_seen=False))}
    if model._known is not None:
        figures["without_seen_seconds"] = seconds_of(lambda: model.recommend_many(n=10))
    try:
        import faiss
    except ImportError:
        return figures
    faiss.omp_set_num_threads(1)
    rows, columns = model.vectors()
    index = faiss.IndexFlatIP(columns.shape[1])
    index.add(columns)
    figures["faiss_seconds"] = seconds_of(lambda: index.search(rows, 10))
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--model")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model
        if model is None:
            model, ratings = f"{folder}/m.npz", f"{folder}/r.csv"
            shape = "--rows 6040 --cols 3706 --entries 1000000 --rank 20"
            for command in (f"generate ratings {shape} --out {ratings}", f"complete {ratings} --out {model}"):
                subprocess.run([options.program, *command.split()], check=True, stderr=subprocess.DEVNULL)
        arrays = np.load(model)
        rows, columns = arrays["row_names"], arrays["column_names"]
        some = np.random.default_rng(0)
        row, column = (lambda: str(some.choice(rows))), (lambda: str(some.choice(columns)))
        newcomer = lambda: json.dumps({"entries": {column(): 4.0 for _ in range(20)}})
        pairs = lambda: json.dumps({"pairs": [[row(), column()] for _ in range(100)]})
        kinds = {
            "health": lambda: ("GET", "/health", None),
            "predict 100 pairs": lambda: ("POST", "/predict", pairs()),
            "recommend 10": lambda: ("POST", "/recommend", json.dumps({"row": row()})),
            "recommend 10, 3 reasons each": lambda: (
                "POST",
                "/recommend",
                json.dumps({"row": row(), "explain": 3}),
            ),
            "10 rows for a column": lambda: ("POST", "/recommend", json.dumps({"column": column()})),
            "recommend 10 to a newcomer": lambda: ("POST", "/recommend", newcomer()),
            "similar 10": lambda: ("POST", "/similar", json.dumps({"column": column()})),
        }
        server, port = started(options.program, model)
        result = {"model": model, "rows": len(rows), "columns": len(columns), "clients": options.clients}
        print(
            f"{len(rows)} rows x {len(columns)} columns. Every question is asked for {options.seconds:g} s by "
            f"{options.clients} clients at once, each of which asks again\nas soon as it is answered: answers "
            "to all of them per second, and ms from a question to its whole answer.\n"
        )
        print(f"{'question to the server':<44} {'answers/s':>10} {'p50 ms':>8} {'p99 ms':>8}")
        try:
            for name, make in kinds.items():
                questions = [make() for _ in range(500)]
                figures = measured(port, questions, options.clients, options.seconds)
                result[name] = figures
                print(
                    f"{name:<44} {figures['answers_per_second']:>10.0f} {figures['p50_ms']:>8.2f} "
                    f"{figures['p99_ms']:>8.2f}"
                )
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
        result["lists"] = lists_in_python(model)
        print(f"\n{f'lists of 10 for all {len(rows)} rows, no server':<44} {'CPU s, one thread':>10}")
        for name, seconds in result["lists"].items():
            print(f"{LISTS[name]:<44} {seconds:>10.3f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)


if __name__ == "__main__":
    main()
