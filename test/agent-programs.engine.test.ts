import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { scaled } from '../testing/load.ts';
import { test as base } from './engines/agent-fixture.ts';
import { installAgentPrograms, runProgram, startTokenProxy } from './engines/agent-programs.ts';
import { temporaryDataDir } from './engines/data-dir.ts';

// The conformance suite and the inspector of the Model Context Protocol’s authors.

/** A scenario that calls fixed tools, prompts and resources is about a server that has them. */
const FIXED = 'it calls a tool that only a server for tests has';
const NO_PROMPTS = 'there are no prompts: the tools say what they do';
const NOT_HERE: Readonly<Record<string, string>> = {
  'logging-set-level': 'the log of Annals is for operators, not for agents',
  'completion-complete': 'it completes the argument of a prompt that only a server for tests has',
  'tools-call-simple-text': FIXED,
  'tools-call-image': FIXED,
  'tools-call-audio': FIXED,
  'tools-call-embedded-resource': FIXED,
  'tools-call-mixed-content': FIXED,
  'tools-call-with-logging': FIXED,
  'tools-call-error': FIXED,
  'tools-call-with-progress': FIXED,
  'tools-call-sampling': FIXED,
  'tools-call-elicitation': FIXED,
  'json-schema-2020-12': FIXED,
  'elicitation-sep1034-defaults': FIXED,
  'elicitation-sep1330-enums': FIXED,
  'server-sse-polling': 'an answer is one message: there is no stream to resume',
  'server-sse-multiple-streams': 'an answer is one message: there are no streams',
  'resources-read-text': 'it reads an address that only a server for tests has',
  'resources-read-binary': 'it reads an address that only a server for tests has',
  'resources-templates-read': 'it reads an address that only a server for tests has',
  'resources-subscribe': 'agents follow the feed (listEvents); there are no sessions to subscribe in',
  'resources-unsubscribe': 'agents follow the feed (listEvents); there are no sessions to subscribe in',
  'prompts-list': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
};

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('programs', { scope: 'file' }, ({}) => installAgentPrograms())
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    return folder.path;
  })
  .extend(
    'conformance',
    { scope: 'file' },
    ({ programs, folder }) =>
      async (...args: readonly string[]) =>
        runProgram(join(programs, 'conformance'), args, folder),
  )
  .extend('proxied', { scope: 'file' }, async ({ installation, eve }, { onCleanup }) => {
    const proxy = await startTokenProxy({
      origin: installation.origin,
      publicUrl: installation.url,
      token: eve.token,
    });
    onCleanup(() => proxy[Symbol.asyncDispose]());
    return proxy.url;
  })
  .extend(
    'inspect',
    { scope: 'file' },
    ({ programs, folder, installation, eve }) =>
      async (...args: readonly string[]) => {
        const at = [
          `${installation.origin}/mcp`,
          '--transport',
          'http',
          '--header',
          `Authorization: Bearer ${eve.token}`,
        ];
        const { exit, stdout, text } = await runProgram(
          join(programs, 'mcp-inspector'),
          ['--cli', ...at, ...args],
          folder,
        );
        expect(exit, text).toBe(0);
        return JSON.parse(stdout);
      },
  );

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

describe('the conformance suite', () => {
  test('passes in each scenario that a server can have without its fixed tools', {
    timeout: scaled(300_000),
  }, async ({ conformance, folder, proxied }) => {
    const { stdout } = await conformance('list', '--server');
    const all = [...stdout.matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name);
    expect(all.length).toBeGreaterThan(20);
    expect(Object.keys(NOT_HERE).filter((name) => !all.includes(name))).toEqual([]);
    for (const name of all.filter((each) => each in NOT_HERE))
      console.log(`Not run: ${name}, because ${NOT_HERE[name]}.`);
    const held = all.filter((name) => !(name in NOT_HERE));
    // The docs state both numbers.
    expect([held.length, all.length]).toEqual([5, 32]);
    for (const name of held) {
      const output = join(folder, name);
      const { exit, text } = await conformance(
        'server',
        '--url',
        proxied,
        '--scenario',
        name,
        '--output-dir',
        output,
      );
      expect(exit, text).toBe(0);
      const checks = await checksIn(output);
      const statuses = checks.map(({ status }) => status);
      expect(statuses, text).toContain('SUCCESS');
      expect(
        checks.filter(({ status }) => !['SUCCESS', 'INFO'].includes(status)),
        text,
      ).toEqual([]);
    }
  });
});

const checksIn = async (folder: string): Promise<readonly Check[]> => {
  const files = await readdir(folder, { recursive: true });
  const found = files.filter((file) => file.endsWith('checks.json'));
  const texts = await Promise.all(found.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((text) => JSON.parse(text) as Check[]);
};

describe('the inspector', () => {
  test('lists the tools, and finds their schemas portable', { timeout: scaled(120_000) }, async ({
    inspect,
  }) => {
    const { tools } = await inspect('--method', 'tools/list', '--strict');
    expect(tools.map(({ name }: { readonly name: string }) => name)).toEqual(
      expect.arrayContaining(['createClaim', 'listClaims', 'getMe']),
    );
  });

  test('calls a tool, and reads a resource', { timeout: scaled(120_000) }, async ({
    inspect,
    eve,
    installation,
  }) => {
    const me = await inspect('--method', 'tools/call', '--tool-name', 'getMe');
    expect(me.structuredContent).toMatchObject({ item: { id: eve.userId } });
    const uri = `${installation.url}/claims`;
    const { contents } = await inspect('--method', 'resources/read', '--uri', uri);
    expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
  });
});
