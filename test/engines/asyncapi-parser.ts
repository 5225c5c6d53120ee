import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The parser of AsyncAPI’s authors: with 168 packages, too large to be a dependency of everybody who works here. */
const PARSER = { '@asyncapi/parser': '3.6.6' };

/** Reads a document from its input, and prints its diagnostics. */
const PROGRAM = `
import { text } from 'node:stream/consumers';
import { Parser } from '@asyncapi/parser';
const { document, diagnostics } = await new Parser().parse(await text(process.stdin));
const found = diagnostics.map(({ code, message, path, severity }) => ({ code, message, path, severity }));
const messages = document?.messages().all().map((each) => each.name()) ?? [];
console.log(JSON.stringify({ diagnostics: found, messages }));
`;

type Parsed = {
  readonly diagnostics: readonly {
    readonly code: string;
    readonly message: string;
    readonly severity: number;
  }[];
  readonly messages: readonly string[];
};

/** Installs it once, into the user’s cache folder. */
export const installAsyncApiParser = async (): Promise<(document: string) => Promise<Parsed>> => {
  const name = `asyncapi-${Object.values(PARSER).join('-')}`;
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals', name);
  const program = join(folder, 'parse.mjs');
  if (!existsSync(join(folder, 'installed'))) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PARSER }));
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
    await writeFile(join(folder, 'installed'), '');
  }
  await writeFile(program, PROGRAM);
  return async (document) => {
    const parsing = run(process.execPath, [program], { maxBuffer: OUTPUT_BYTES_MAX });
    parsing.child.stdin?.end(document);
    const { stdout } = await parsing;
    return JSON.parse(stdout) as Parsed;
  };
};

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
