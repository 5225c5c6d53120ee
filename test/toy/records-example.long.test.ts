import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { records } from '../../examples/records/domain/domain.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { openSigner } from '../engines/signers.ts';
import { patternOf } from '../engines/tutorial-page.ts';
import { dayIn } from './auditors-fixture.ts';
import { test as base } from './toy-fixture.ts';

/** Follows the page of the example for regulated work: each request by its person, each answer compared. */
const PAGE = readFileSync(new URL('../../examples/records/README.md', import.meta.url), 'utf8');
const REQUEST =
  /^(?:(?<name>\w+) = )?(?<who>\w+): (?<method>[A-Z]+) (?<path>\S+)(?: (?<body>\{.*\}))?(?: (?<header>[\w-]+): (?<value>.+))?$/;

type Block = { readonly language: string; readonly text: string; readonly shown: string | undefined };

/** The blocks of each section. A block `text` is the answer to the one before. */
const SECTIONS = PAGE.split(/^## /m).map((section) => {
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
  return {
    heading: section.split('\n', 1)[0] ?? '',
    blocks: blocks.flatMap(({ language, text }, at): readonly Block[] => {
      const next = blocks[at + 1];
      return language === 'text'
        ? []
        : [{ language, text, shown: next?.language === 'text' ? next.text : undefined }];
    }),
  };
});
const PEOPLE = [...PAGE.matchAll(/^\| (\w+) \| (nurse|doctor|patient|counsel|auditor) \|$/gm)];

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    { of: { domain: records }, settings: { PUBLIC_URL: 'https://annals.example' } },
  )
  /** What `$name` stands for. */
  .extend('known', { scope: 'file' }, () => new Map<string, string>())
  .extend('inspectorNamed', { scope: 'file' }, ({ byAdmin, people }) => async (name: string) => {
    const person = await people.signUp(name);
    await byAdmin('PATCH', `/users/${person.userId}`, { role: 'auditor', auditorUntil: dayIn(30) });
    return people.signIn(person, 'auditor');
  })
  .extend('persons', { scope: 'file' }, async ({ inspectorNamed, people, signUpAs, known }) => {
    const persons = new Map<string, TokenHolder>([['Admin', people.administrator]]);
    for (const [, name = '', role = ''] of PEOPLE) {
      const person = await (role === 'auditor' ? inspectorNamed(name) : signUpAs(name, role));
      persons.set(name, person);
      known.set(name.toLowerCase(), String(person.userId));
    }
    return persons;
  })
  .extend('personOf', { scope: 'file' }, ({ persons }) => (name: string) => {
    const person = persons.get(name);
    if (person === undefined) throw new Error(`the page does not say who ${name} is`);
    return person;
  })
  .extend(
    'here',
    { scope: 'file' },
    ({ known, persons: _known }) =>
      (text: string) =>
        text.replaceAll(/\$(\w+)/g, (_, name: string) => {
          const value = known.get(name);
          if (value === undefined) throw new Error(`the page does not say what $${name} is`);
          return value;
        }),
  )
  .extend('send', { scope: 'file' }, ({ ask, here, known, personOf }) => {
    let cursor = '';
    return async (line: string) => {
      const { groups } = REQUEST.exec(line) ?? {};
      if (groups === undefined) throw new Error(`this is no request: ${line}`);
      const { name, who = '', method = '', path = '', body, header, value = '' } = groups;
      const reply = await until(
        () =>
          ask(method, here(path), {
            token: personOf(who).token,
            ...(body !== undefined && { body: here(body) }),
            headers: {
              ...(cursor !== '' && { 'consistency-token': cursor }),
              ...(header !== undefined && { [header]: here(value) }),
            },
          }),
        ({ status }) => status !== 503,
      );
      cursor = reply.headers.get('consistency-token') ?? cursor;
      const answered = reply.body as {
        readonly id?: number;
        readonly details?: { readonly request?: string };
      };
      if (name !== undefined) known.set(name, String(answered.details?.request ?? answered.id));
      return `${reply.status} ${JSON.stringify(reply.body)}`;
    };
  })
  .extend('sign', { scope: 'file' }, ({ here, installation, personOf }) => {
    const signers = new Map<string, ReturnType<typeof openSigner>>();
    return async (line: string) => {
      const [who = '', path = ''] = line.split(': ');
      const { email } = personOf(who);
      const signer = signers.get(who) ?? openSigner(installation, { email: email ?? '' });
      signers.set(who, signer);
      const page = await (await signer).sign(`${installation.url}${here(path)}`);
      expect(page.body).toContain('<h1>Signed</h1>');
      return '';
    };
  })
  .extend('operator', { scope: 'file' }, ({ installation }) => async (line: string) => {
    const [program, ...args] = line.split(' ');
    expect(program).toBe('annals');
    return operate(args, installation.settings, records);
  });

test('the page has requests, signatures and commands', () => {
  const languages = SECTIONS.flatMap(({ blocks }) => blocks.map(({ language }) => language));
  expect(new Set(languages)).toEqual(new Set(['shell', 'http', 'signer', 'sh']));
  expect(PEOPLE.length).toBe(7);
  const headings = SECTIONS.slice(1).map(({ heading }) => heading);
  // docs/auditors.md names them.
  expect(headings).toEqual(['A day', 'The patient', 'A dispute', 'An inspection', 'Paul leaves']);
});

for (const { heading, blocks } of SECTIONS.slice(1))
  test(heading, async ({ here, send, sign, operator }) => {
    const ways = new Map([
      ['http', send],
      ['signer', sign],
      ['sh', operator],
    ]);
    for (const { language, text, shown } of blocks) {
      const follow = ways.get(language);
      if (follow === undefined) throw new Error(`nobody knows what to do with ${language}`);
      const printed: string[] = [];
      for (const line of text.trim().split('\n')) printed.push(await follow(line));
      if (shown !== undefined) expect.soft(printed.join('\n'), text).toMatch(patternOf(here(shown)));
    }
  });
