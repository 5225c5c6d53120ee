import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { EMPTY_ROOT } from '../../proof/tree/hashes.ts';

const run = promisify(execFile);
const MODULE = join(import.meta.dirname, 'witnesses');

/** Builds a program of others into the folder. */
export const buildOther = async (folder: string, program: string): Promise<string> => {
  const path = join(folder, program.split('/').at(-1) ?? '');
  await run('go', ['build', '-o', path, program], { cwd: MODULE });
  return path;
};

type Litewitness = AsyncDisposable & {
  readonly vkey: string;
  readonly url: string;
  knows(origin: string, vkey: string): void;
};

/** The witness of torchwood, whose key is in an agent of SSH. */
export const startLitewitness = async (folder: string, name: string): Promise<Litewitness> => {
  await using opening = new AsyncDisposableStack();
  const program = await buildOther(folder, 'filippo.io/torchwood/cmd/litewitness');
  const [key, socket, data] = ['key', 'agent', 'lite.db'].map((file) => join(folder, file)) as [
    string,
    string,
    string,
  ];
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] });
  opening.defer(() => end(agent));
  await once(createInterface(agent.stdout), 'line');
  await run('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  const { stdout } = await run('ssh-keygen', ['-lf', `${key}.pub`]);
  const [, fingerprint = ''] = stdout.split(' ');
  const port = await freePort();
  const listen = `127.0.0.1:${port}`;
  const args = ['-name', name, '-db', data, '-ssh-agent', socket, '-key', fingerprint, '-listen', listen];
  const witness = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  opening.defer(() => end(witness));
  let vkey = '';
  for await (const line of createInterface(witness.stderr)) {
    vkey = /vkey=(\S+)/.exec(line)?.[1] ?? vkey;
    if (line.includes('msg=listening')) break;
  }
  const resources = opening.move();
  return {
    vkey,
    url: `http://${listen}`,
    knows(origin, logKey) {
      using database = new DatabaseSync(data);
      database
        .prepare('insert into log (origin, tree_size, tree_hash) values (?, 0, ?)')
        .run(origin, EMPTY_ROOT.toString('base64'));
      database.prepare('insert into key (origin, key) values (?, ?)').run(origin, logKey);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  await exited;
};
