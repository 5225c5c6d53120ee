import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { withParts } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { callAt } from '../test/engines/call-line.ts';
import { expenses } from '../test/toy/expenses.ts';

const call = (...args: readonly string[]) => callIn(publishing, ...args);

const callIn = (domain: Domain, ...args: readonly string[]) =>
  callAt({ domain, environment: { DATA_DIR: '/nowhere' } }, args);

test.each([[], ['help'], ['help', 'help'], ['--help'], ['-h']])('%j lists the groups', async (...args) => {
  const { exit, output } = await call(...args);
  expect(exit).toBe(0);
  for (const name of ['begin', 'api', 'log', 'audit', 'users'])
    expect(output).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
  expect(output).toContain('Commands of a group: npm run annals -- help <group>');
  expect(output).not.toContain('log tail');
});

test('help --all lists all commands', async () => {
  const { exit, output } = await call('help', '--all');
  expect(exit).toBe(0);
  for (const name of ['log tail', 'log show', 'log append', 'settings', 'new aggregate'])
    expect(output).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
});

test.each([[['help', 'begin']], [['begin', '--help']]])(
  '%j lists a group without a word of its own',
  async (args) => {
    const { exit, output } = await call(...args);
    expect(exit).toBe(0);
    expect(output).toMatch(/^ {2}settings +\S/m);
    expect(output).not.toContain('log tail');
  },
);

test('help on a command with others below it lists these too', async () => {
  const { output } = await call('help', 'events');
  expect(output).toContain('--follow');
  expect(output).toMatch(/^ {2}show +\S/m);
});

test('api without an installation is one sentence', async () => {
  expect(await call('api', '--url', 'http://127.0.0.1:9')).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(/^Annals does not answer at http:\/\/127\.0\.0\.1:9 /),
  });
});

test.each([[['help', 'log', 'tail']], [['log', 'tail', '--help']], [['log', 'tail', '--from', '3', '-h']]])(
  '%j explains one',
  async (args) => {
    const { exit, output } = await call(...args);
    expect(exit).toBe(0);
    expect(output).toContain('--follow');
    expect(output).toContain('Examples:');
  },
);

test('help names the roles of the domain', async () => {
  expect((await call('help', 'client', 'create')).output).toContain(
    'The role of the service account: reader, author, or admin (reader).',
  );
  expect((await callIn(expenses, 'help', 'client', 'create')).output).toContain(
    'The role of the service account: employee, approver, or admin (employee).',
  );
});

test.each([[['log', '--help']], [['help', 'log']]])('%j lists the commands of a group', async (args) => {
  const { output } = await call(...args);
  expect(output).toContain('log show');
  expect(output).not.toContain('settings');
});

test.each([
  [['log', 'tial'], 'there is no command “log tial”; did you mean “log tail”?'],
  [['setings'], 'there is no command “setings”; did you mean “settings”?'],
  [['hlep'], 'there is no command “hlep”; did you mean “help”?'],
  [['hepl'], 'there is no command “hepl”; did you mean “help”?'],
  [['--hlep'], 'there is no option --hlep; did you mean --help?'],
  [['vresion'], 'there is no command “vresion”; did you mean “version”?'],
  [['log', 'tail', '--hlep'], 'there is no option --hlep; did you mean --help? (more'],
  [['begin'], '“begin” is a group of commands: npm run annals -- help begin lists them.'],
  [['foo', '--help'], 'there is no command “foo”; npm run annals -- help lists the commands.'],
  [['help', 'log', 'tial'], 'there is no command “log tial”; did you mean “log tail”?'],
  [['opne'], 'there is no command “opne”; did you mean “open”?'],
  [['foo'], 'there is no command “foo”; npm run annals -- help lists the commands.'],
  [['frobnicate'], 'there is no command “frobnicate”; npm run annals -- help lists the commands.'],
  [
    ['log'],
    '“log” needs one more word: log tail, log show, log export, log import, log copy, log renew, log accept-server, log append, log archive.',
  ],
  [
    ['log', 'tail', '--form', '3'],
    'there is no option --form; did you mean --from? (more: npm run annals -- help log tail).',
  ],
  [
    ['log', 'tail', '--nothing-like-it'],
    'there is no option --nothing-like-it (more: npm run annals -- help log tail).',
  ],
  [['log', 'tail', '-x'], 'there is no option -x (more'],
  [['--verison'], 'there is no option --verison; did you mean --version?'],
  [['--frobnicate'], 'there is no option --frobnicate; npm run annals -- help lists the commands.'],
  [['log', 'tail', '--from'], '--from needs a value, as in --from=<position> (more'],
  [['log', 'tail', '--from', '--json'], '--from needs a value, as in --from=<position> (more'],
  [['log', 'tail', '--follow=yes'], '--follow takes no value (more'],
  [['client', 'create', 'x', '--service', '--scope', 'dance'], '--scope: '],
  [['client', 'create', 'x', '--service', '--auth', 'magic'], '--auth: '],
  [['client', 'create', 'x', '--redirect-uri', 'nowhere'], '--redirect-uri: '],
  [['client', 'create', 'x', '--service', '--id', '?'], '--id: '],
  [['log', 'tail', '--from', 'x'], '--from must be a whole number from 0 to 9007199254740991, but is “x”'],
  [['log', 'tail', '--type', 'article.eaten'], '--type: there is no event type “article.eaten”'],
  [['log', 'copy', '--to', 'x'], '--to must be an esdb: or postgres: URL, or “database”'],
  [['log', 'copy', '--to', 'database', '--streams', 'x'], '--to must be an esdb: or postgres: URL (more'],
  [['log', 'show'], '<stream> is missing'],
  [['version', 'x'], 'unexpected argument: x'],
  [['version', '--json'], 'there is no option --json'],
  [['events', '--json', 'show', 'x'], '--json goes behind “events show”'],
  [['api', 'notDeclared', '--url', 'https://elsewhere.example/hook'], 'notDeclared is not declared here'],
  [['log', 'show', 'a-1', 'b-2'], 'unexpected argument: b-2'],
  [['log', 'append', 'article-1', 'article.published', '{'], '<json> is not JSON'],
])('%j is refused with help', async (args, complaint) => {
  const called = await call(...args);
  expect(called.exit).toBe(64);
  expect(called.complaint).toContain(`annals: ${complaint}`);
});

test('no command makes a missing data folder', async () => {
  const { exit, complaint } = await call('log', 'tail');
  expect(exit).toBe(1);
  expect(complaint).toMatch(/^There is no data in \/nowhere yet/);
});

test.each(['version', '--version', '-v'])('%s prints the version', async (argument) => {
  expect(await call(argument)).toMatchObject({
    exit: 0,
    output: expect.stringMatching(/^annals \d+\.\d+\.\d+ \(Node \d/),
  });
});

test('an argument with the value help does not ask for help', async () => {
  expect(await call('erasure', 'report', 'help')).toMatchObject({ exit: 1, output: '' });
});

test('an unusable file or folder is one sentence', async () => {
  expect(await call('documents', 'load', '/dev/null/below')).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(/^There is no data/),
  });
  expect(await call('log', 'import', '/dev/null/below')).toMatchObject({
    ...{ exit: 1, output: '' },
    complaint: '/dev/null/below/manifest.json is inside a file, not a folder.',
  });
});

test('graphql schema prints a schema that a gateway can compose', async () => {
  const { exit, output } = await call('graphql', 'schema');
  expect(exit).toBe(0);
  expect(output).toMatch(/^extend schema\n {2}@link\(url: "https:\/\/specs\.apollo\.dev\/federation/);
  expect(output).toContain('createUser(input: UserInput!): User!');
});

test('settings prints the table', async () => {
  const { exit, output } = await call('settings');
  expect(exit).toBe(0);
  expect(output).toMatch(/^\| Setting \| Default \| What it is \|\n/);
});

test('the commands of parts that are not served are neither listed nor run', async () => {
  const core = withParts(publishing, []);
  const { output } = await callIn(core, 'help', '--all');
  expect(output).toMatch(/^ {2}log tail +\S/m);
  expect(output).not.toMatch(/^ {2}(?:webhooks|deliveries|client|audit|documents|graphql) /m);
  expect(output).not.toMatch(/^(?:Webhooks|Deliveries|GraphQL):/m);
  expect((await callIn(core, 'completion', 'bash')).output).not.toContain('webhooks');
  for (const [part, ...words] of [
    ['webhooks', 'webhooks', 'list'],
    ['proof', 'audit', 'verify'],
    ['graphql', 'graphql', 'schema'],
    ['accounts', 'client', 'list'],
  ] as const)
    expect(await callIn(core, ...words)).toMatchObject({
      exit: 1,
      complaint: `${words.join(' ')} needs ${part}(): add it to the parts of this installation.`,
    });
});
