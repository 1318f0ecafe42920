"""Speaks to Archivist with the official client of the Model Context Protocol, over a pipe and over HTTP.

Each way is tried with the handshake of older clients and with what newer ones do without. All of them must come to the
same transcript, which is compared with `transcript.txt`; ARCHIVIST_UPDATE_SNAPSHOTS=1 writes it anew. ARCHIVIST_BIN is
the program. `scripts/mcp-client` runs this.
"""

import asyncio
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from mcp import Client, MCPError, StdioServerParameters

HERE = pathlib.Path(__file__).parent
FIXED = ["--now", "2026-03-01T12:00:00Z", "--seed", "7"]
SESSION = [
    {"session": {"id": "session-1", "agent": "helper", "model": "large-1"}},
    {"role": "user", "content": "Please make it work.", "timestamp": "2026-02-13T10:00:00Z"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "bash", "arguments": {"command": "make docs"}}]},
    {"role": "tool", "tool_call_id": "1", "exit_code": 1, "content": "make: mkdocs: command not found"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "2", "name": "bash", "arguments": {"command": "pip install mkdocs"}}]},
    {"role": "tool", "tool_call_id": "2", "exit_code": 0, "content": "done"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "3", "name": "bash", "arguments": {"command": "make docs"}}]},
    {"role": "tool", "tool_call_id": "3", "exit_code": 0, "content": "ok"},
]


class World:
    """A home and a project in it, with one lesson and one session."""

    def __init__(self, program, folder):
        self.program = program
        self.home = pathlib.Path(folder).resolve()
        self.project = self.home / "project"
        sessions = self.project / ".openagents" / "sessions"
        sessions.mkdir(parents=True)
        lines = [json.dumps(line) + "\n" for line in SESSION]
        (sessions / "session-1.jsonl").write_text("".join(lines))
        self.run("add", "Prefer rg over grep in this repository")

    @property
    def environment(self):
        # What is put into the queue is worked off at once, by a worker of its own.
        return {"HOME": str(self.home), "ARCHIVIST__WORKER__SETTLE_SECONDS": "0"}

    def run(self, *arguments):
        command = [self.program, *arguments, *FIXED]
        subprocess.run(command, cwd=self.project, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def settle(self):
        """Waits for the worker: it must not write into a folder that is being removed."""
        for _ in range(100):
            command = [self.program, "status", "--json", *FIXED]
            found = subprocess.run(command, cwd=self.project, env=self.environment, check=True, capture_output=True)
            if all(job["place"] in ("done", "dead") for job in json.loads(found.stdout)["jobs"]):
                return
            time.sleep(0.1)

    def normal(self, text):
        return re.sub(r"\bep-[0-9a-f]+", "ep-…", text.replace(str(self.home), "~"))


class Transcript:
    """What was asked and what came back, line by line."""

    def __init__(self, world):
        self.world = world
        self.lines = []

    def asked(self, what, *answers):
        self.lines.append(f"> {what}")
        for answer in answers:
            self.lines.extend(f"  {line}".rstrip() for line in self.world.normal(answer).splitlines())
        self.lines.append("")

    async def tool(self, client, name, arguments):
        what = f"{name} {json.dumps(arguments)}"
        try:
            result = await client.call_tool(name, arguments)
        except MCPError as error:
            self.asked(what, f"error: {error.error.message}")
            return
        words = [block.text for block in result.content]
        fields = sorted((result.structured_content or {}).keys())
        self.asked(what, "refused:" if result.is_error else "ok:", *words, f"[{' '.join(fields)}]")


async def converse(client, world):
    """Lists everything and calls every tool."""
    log = Transcript(world)
    log.asked("server", f"{client.server_info.name}", client.instructions or "no instructions")
    for tool in (await client.list_tools()).tools:
        hints = tool.annotations
        required = " ".join(tool.input_schema.get("required", [])) or "nothing"
        log.asked(
            f"tool {tool.name}",
            f"takes {' '.join(sorted(tool.input_schema['properties']))}; needs {required}",
            f"read only {hints.read_only_hint}, destructive {hints.destructive_hint}, idempotent {hints.idempotent_hint}",
        )
    templates = (await client.list_resource_templates()).resource_templates
    log.asked("templates", *[template.uri_template for template in templates])
    for prompt in (await client.list_prompts()).prompts:
        log.asked(f"prompt {prompt.name}", *[f"{one.name}, required {one.required}" for one in prompt.arguments])

    await log.tool(client, "recall", {"text": "search with grep or rg"})
    await log.tool(client, "recall", {"text": "kubernetes ingress certificates"})
    await log.tool(client, "recall", {"words": "grep"})
    await log.tool(client, "record_lesson", {"text": "The linter needs node 22", "tool": "npm"})
    await log.tool(client, "why", {"lesson": "m-002"})
    await log.tool(client, "feedback", {"verdict": "ignore", "lessons": ["m-001"], "run": "run-1"})
    await log.tool(client, "feedback", {"verdict": "validate", "lessons": ["m-001"], "run": "run-2"})
    proof = {"verdict": "validate", "lessons": ["m-001"], "run": "run-2", "evidence": "$ rg --version\nripgrep 14.1.0"}
    await log.tool(client, "feedback", proof)
    await log.tool(client, "why", {"lesson": "m-001"})
    await log.tool(client, "why", {"lesson": "m-999"})
    await log.tool(client, "reflect_session", {"session": "session-1", "wait": True})
    await log.tool(client, "reflect_session", {"session": "session-1"})

    resources = (await client.list_resources()).resources
    log.asked("resources", *[f"{one.uri}: {one.description}" for one in resources])
    for resource in resources:
        contents = (await client.read_resource(resource.uri)).contents[0]
        log.asked(f"read {world.normal(str(resource.uri))}", contents.mime_type, json.loads(contents.text)["summary"])
    try:
        await client.read_resource("archivist://lessons/m-404")
    except MCPError as error:
        log.asked("read archivist://lessons/m-404", f"error: {error.error.message}")
    for arguments in ({}, {"task": "grep this repository for every caller"}):
        prompt = await client.get_prompt("session-start", arguments)
        log.asked(f"session-start {json.dumps(arguments)}", *[message.content.text for message in prompt.messages])
    world.settle()
    return log.lines


async def over_a_pipe(program, mode):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        world = World(program, folder)
        server = StdioServerParameters(
            command=program, args=["mcp", *FIXED], env=world.environment, cwd=world.project
        )
        async with Client(server, mode=mode) as client:
            return client.protocol_version, await converse(client, world)


async def over_http(program, mode):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        world = World(program, folder)
        command = [program, "serve", "--port", "0", *FIXED]
        server = subprocess.Popen(command, cwd=world.project, env=world.environment, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            async with Client(f"{address}mcp", mode=mode) as client:
                return client.protocol_version, await converse(client, world)
        finally:
            server.terminate()
            if server.wait(timeout=30) != 0:
                sys.exit("error: the server did not end as it should")


async def main():
    program = os.environ.get("ARCHIVIST_BIN")
    if not program or not pathlib.Path(program).is_file():
        sys.exit("error: ARCHIVIST_BIN names no program\nhint: cargo build, then ARCHIVIST_BIN=target/debug/archivist")
    program = str(pathlib.Path(program).resolve())
    head, first = [], None
    for name, way in (("pipe", over_a_pipe), ("http", over_http)):
        for mode in ("legacy", "auto"):
            version, lines = await way(program, mode)
            head.append(f"# {name}, {mode}: protocol {version}")
            first = first or lines
            if lines != first:
                print("\n".join(difflib.unified_diff(first, lines, "pipe, legacy", f"{name}, {mode}", lineterm="")))
                sys.exit(f"error: {name}, {mode} came to another transcript")
    found = "\n".join([*head, "", *first]).rstrip() + "\n"
    path = HERE / "transcript.txt"
    if os.environ.get("ARCHIVIST_UPDATE_SNAPSHOTS"):
        path.write_text(found)
    expected = path.read_text() if path.exists() else ""
    if found != expected:
        print("\n".join(difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")))
        sys.exit("error: the transcript differs\nhint: if that is wanted, ARCHIVIST_UPDATE_SNAPSHOTS=1 writes it anew")
    print(f"the transcript is as it was: {len(head)} ways, {len(first)} lines")


asyncio.run(main())
