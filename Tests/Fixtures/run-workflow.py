#!/usr/bin/env python3
"""Runs a workflow's steps as GitHub does, as far as they are shell.

usage: run-workflow.py WORKFLOW WORKSPACE SCRATCH [NAME=VALUE]...

A step that uses a repository named 'migration' runs this project's action.yml; NAME=VALUE sets another value
under its 'with'. Steps that use GitHub's own actions are left out. Prints a JSON object: the log, the
summary, the outputs of the last action, the steps that ran and that were left out, and whether it succeeded.
"""
import json, os, re, subprocess, sys
import yaml

workflow, workspace, scratch, *changes = sys.argv[1:]
project = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
result = {"log": "", "summary": "", "outputs": {}, "ran": [], "leftOut": [], "succeeded": True}


def load(path):
    with open(path) as file:
        return yaml.safe_load(file)


def value(expression, inputs, outputs):
    """The value of one expression, of the few forms that the project's files hold."""
    if found := re.fullmatch(r"inputs\.([\w-]+)", expression):
        return inputs[found[1]]
    if found := re.fullmatch(r"steps\.([\w-]+)\.outputs\.([\w-]+)", expression):
        return outputs.get(found[1], {}).get(found[2], "")
    if found := re.fullmatch(r"(.+) == ''", expression):
        return value(found[1], inputs, outputs) == ""
    raise SystemExit(f"an expression that this runner does not know: {expression}")


def text(template, inputs, outputs):
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: value(found[1], inputs, outputs), str(template))


def pairs(path):
    """What a step wrote to its file of outputs."""
    with open(path) as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file if line.strip())


def shell(script, environment, name):
    files = {key: os.path.join(scratch, f"{len(result['ran'])}-{key}")
             for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")}
    for path in files.values():
        open(path, "w").close()
    path = os.path.join(scratch, "step.sh")
    with open(path, "w") as file:
        file.write(script)
    run = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", path], cwd=workspace, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": os.path.join(scratch, "home"), "CI": "true",
             "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": workspace, "RUNNER_OS": "Linux",
             "RUNNER_TEMP": scratch, **files, **environment})
    result["ran"].append(name)
    result["log"] += run.stdout
    with open(files["GITHUB_STEP_SUMMARY"]) as file:
        result["summary"] += file.read()
    result["succeeded"] &= run.returncode == 0
    return pairs(files["GITHUB_OUTPUT"])


def run_action(given):
    action = load(os.path.join(project, "action.yml"))
    unknown = given.keys() - action["inputs"].keys()
    missing = [name for name, item in action["inputs"].items() if item.get("required") and name not in given]
    if unknown or missing:
        raise SystemExit(f"unknown inputs: {unknown}, missing: {missing}")
    inputs = {name: str(given.get(name, item.get("default", ""))) for name, item in action["inputs"].items()}
    outputs = {}
    for step in action["runs"]["steps"]:
        if not result["succeeded"] or not ("if" not in step or value(step["if"], inputs, outputs)):
            result["leftOut"].append(step["name"])
        elif "uses" in step:
            result["leftOut"].append(step["uses"])
            result["log"] += "".join(f"{key}: {text(item, inputs, outputs)}\n" for key, item in step["with"].items())
        else:
            assert step["shell"] == "bash"
            environment = {key: text(item, inputs, outputs) for key, item in step.get("env", {}).items()}
            environment["GITHUB_ACTION_PATH"] = project
            outputs[step.get("id", "")] = shell(text(step["run"], inputs, outputs), environment, step["name"])
    result["outputs"] = {name: text(item["value"], inputs, outputs) for name, item in action["outputs"].items()}


for job in load(workflow)["jobs"].values():
    for step in job["steps"]:
        if re.match(r"[\w-]+/migration@", step.get("uses", "")):
            run_action({**step.get("with", {}), **dict(change.split("=", 1) for change in changes)})
        else:
            result["leftOut"].append(step["uses"])
print(json.dumps(result, indent=1))
