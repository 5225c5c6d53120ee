import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Programs of the Model Context Protocol’s authors: too large to be dependencies of everybody who works here. */
const PROGRAMS = {
  '@modelcontextprotocol/conformance': '0.1.16',
  '@modelcontextprotocol/inspector': '2.12.0',
};

/** Installs them once, into the user’s cache folder; returns that of their commands. */
export const installAgentPrograms = async (): Promise<string> => {
  const name = `mcp-${Object.values(PROGRAMS).join('-')}`;
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals', name);
  const commands = join(folder, 'node_modules', '.bin');
  if (existsSync(join(folder, 'installed'))) return commands;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PROGRAMS }));
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
  await writeFile(join(folder, 'installed'), '');
  return commands;
};

type Ran = { readonly exit: number; readonly stdout: string; readonly text: string };

export const runProgram = async (command: string, args: readonly string[], folder: string): Promise<Ran> => {
  const env = { PATH: process.env.PATH, HOME: folder, NO_COLOR: '1' };
  const limits = { cwd: folder, env, maxBuffer: OUTPUT_BYTES_MAX };
  try {
    const { stdout, stderr } = await run(process.execPath, [command, ...args], limits);
    return { exit: 0, stdout, text: `${stdout}${stderr}` };
  } catch (error) {
    const { code, stdout, stderr } = error as {
      readonly code: number;
      readonly stdout: string;
      readonly stderr: string;
    };
    return { exit: code, stdout, text: `${stdout}${stderr}` };
  }
};

/** Adds a token to each request, for a program that cannot send one, and makes its own origin that of the server. */
export const startTokenProxy = async ({
  origin: at,
  publicUrl,
  token,
}: {
  readonly origin: string;
  /** By which the server knows itself. */
  readonly publicUrl: string;
  readonly token: string;
}) => {
  const { hostname, port, host } = new URL(at);
  const server = createServer((asked, answer) => {
    const isOwn = asked.headers.origin === `http://127.0.0.1:${asked.socket.localPort}`;
    const origin = isOwn ? { origin: new URL(publicUrl).origin } : {};
    const headers = { ...asked.headers, ...origin, host, authorization: `Bearer ${token}` };
    const sent = request({ hostname, port, method: asked.method, path: asked.url, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};
