import { CommanderError, type Command as Parser } from 'commander';
import { nearest } from '#kernel/base/nearest.ts';
import { createClient } from '../../client/client.ts';
import { afterIn } from '../../client/pages.ts';
import { jsonIn } from '../../client/problem.ts';
import type { Command, Given } from '../arguments/command.ts';
import { declare, givenOf, newParser, PROGRAM } from '../arguments/parser.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { readUrl } from '../installation/token.ts';
import { LIMITS, REMOTE_OPTIONS, type Remote, withInstallation, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { printAnswer, printValue } from './answer.ts';
import { argumentsOf, type Call, callOf } from './call.ts';
import { type ApiOperation, operationsIn } from './operations.ts';

export const api: Command = {
  name: 'api',
  summary:
    'Calls an operation of the interface, with its fields as options. Without one, it lists the operations of the installation.',
  positionals: ['[operation]', '[arguments…]'],
  options: REMOTE_OPTIONS,
  isPassing: true,
  examples: [
    'api',
    'api listUsers --limit 5',
    'api getUser --help',
    `api createWebhook --url https://shop.example/hooks --eventTypes '{kind}.*'`,
    'api createUser --body user.json',
  ],
  async run(given, terminal) {
    const [wanted, ...args] = given.positionals;
    const asked = { given: await withUrlIn(args, wanted, { given, terminal }), terminal };
    const operations = await readOperations(asked.given, terminal);
    if (wanted === undefined) return listAll(operations, given, terminal);
    await callBy(operationCalled(wanted, operations), args, asked);
  },
};

/** The address may follow the operation, unless that has a field `url` itself. */
const withUrlIn = async (
  args: readonly string[],
  wanted: string | undefined,
  { given, terminal }: Asked,
): Promise<Given> => {
  if (given.values.has('url')) return given;
  const at = args.findLastIndex((each) => each === '--url' || each.startsWith('--url='));
  const url = args[at]?.slice('--url='.length) || args[at + 1];
  if (wanted === undefined || at === -1 || url === undefined) return given;
  const { declaredOperations } = await import('./declared.ts');
  const declared = declaredOperations(terminal.domain).find(({ id }) => plain(id) === plain(wanted));
  // It could be a field, and an access token would go to its address.
  if (declared === undefined)
    throw new UsageError(
      `${wanted} is not declared here: give --url before it, as in ${PROGRAM} api --url <url> ${wanted}`,
    );
  const isField = declared.fields.some(({ name }) => name === 'url');
  return isField ? given : { ...given, values: new Map([...given.values, ['url', [url]]]) };
};

/** The document of the installation: its release and its domain may differ from those of this command line. */
const readOperations = async (given: Given, terminal: Terminal): Promise<readonly ApiOperation[]> => {
  const url = await readUrl(given, terminal);
  let operations: readonly ApiOperation[] | undefined;
  await withInstallation(url, terminal, async () => {
    const { signal } = terminal;
    const answer = await createClient<object>({ url, ...LIMITS }).request('GET', '/openapi.json', undefined, {
      signal,
    });
    operations = operationsIn(await jsonIn(answer));
  });
  if (operations === undefined) throw new UsageError(`${url}/openapi.json is no description of an interface`);
  return operations;
};

const plain = (name: string): string => name.replaceAll('-', '').toLowerCase();

const operationCalled = (wanted: string, operations: readonly ApiOperation[]): ApiOperation => {
  const found =
    operations.find(({ id }) => id === wanted) ?? operations.find(({ id }) => plain(id) === plain(wanted));
  if (found !== undefined) return found;
  const meant = nearest(
    wanted,
    operations.map(({ id }) => id),
  );
  throw new UsageError(
    `there is no operation “${wanted}”; ${meant === undefined ? `${PROGRAM} api lists them` : `did you mean “${meant}”?`}`,
  );
};

const listAll = async (
  operations: readonly ApiOperation[],
  { flags }: Given,
  terminal: Terminal,
): Promise<void> => {
  if (flags.has('json')) {
    for (const { id, method, path, summary } of operations)
      await terminal.write(JSON.stringify({ id, method, path, summary }));
    return;
  }
  const width = Math.max(0, ...operations.map(({ id }) => id.length));
  for (const [tag, some] of Map.groupBy(operations, (each) => each.tag)) {
    await terminal.write(`${tag}:`);
    for (const { id, summary } of some) await terminal.write(`  ${id.padEnd(width)}  ${summary}`);
    await terminal.write('');
  }
  await terminal.write(`How to call an operation: ${PROGRAM} api <operation> --help`);
};

type Asked = { readonly given: Given; readonly terminal: Terminal };

const callBy = async (operation: ApiOperation, args: readonly string[], asked: Asked): Promise<void> => {
  const { terminal } = asked;
  const shown: string[] = [];
  const parser = newParser(`${PROGRAM} api ${operation.id}`, (text) => shown.push(text), terminal.columns);
  declare(parser, argumentsOf(operation, OPTIONS));
  const given = parsed(parser, args);
  if (given === undefined) return terminal.write(shown.join('').trimEnd());
  const call = await callOf(operation, given);
  const access = accessOf(operation, asked.given, given);
  const work = async (remote: Remote): Promise<void> => {
    if (given.flags.has('all') && given.values.has('output'))
      throw new UsageError('--all goes with --json and a redirection, not with --output');
    if (given.flags.has('all')) return printAll(remote, call, { given: access, terminal });
    const answer = await remote.send(call);
    const after = afterIn(answer);
    await printAnswer(answer, access, terminal);
    if (after !== undefined && !access.flags.has('json'))
      terminal.complain(`There are more: add --after ${after}, or --all.`);
  };
  const nameOf = (name: string) => optionFor(operation, name);
  await withRemote(access, terminal, work, { isPublic: operation.isPublic, nameOf });
};

/** The arguments; undefined if they ask for help. */
const parsed = (parser: Parser, args: readonly string[]): Given | undefined => {
  try {
    return givenOf(parser.parse(args, { from: 'user' }));
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    throw error;
  }
};

/** `/title` is the option `--title`; a pointer into a value names the place in it. */
const optionFor = ({ fields }: ApiOperation, name: string): string => {
  const [first = '', ...rest] = name.replace(/^\//, '').split('/');
  const isKnown = fields.some((field) => field.name === first);
  return isKnown ? [`--${first}`, ...rest].join('/') : name;
};

const OPTIONS = {
  output: { type: 'string', placeholder: '<file>', description: 'Writes the answer to a file.' },
  ...REMOTE_OPTIONS,
} as const satisfies Command['options'];

/** Options before the operation are never fields of it: `api --url https://annals.example createWebhook --url …`. */
const accessOf = ({ fields }: ApiOperation, before: Given, after: Given): Given => {
  const isOurs = ([name]: readonly [string, unknown]) =>
    Object.hasOwn(OPTIONS, name) && !fields.some((field) => field.name === name);
  return {
    positionals: [],
    flags: new Set([...before.flags, ...after.flags]),
    values: new Map([...before.values, ...[...after.values].filter(isOurs)]),
  };
};

const LISTED_MAX = 10_000;

const printAll = async (remote: Remote, { path, query }: Call, { given, terminal }: Asked): Promise<void> => {
  const items = remote.list<unknown>(path, query);
  if (!given.flags.has('json')) {
    const some = await items.take(LISTED_MAX);
    await printValue(some, given, terminal);
    if (some.length === LISTED_MAX)
      terminal.complain(`These are the first ${LISTED_MAX}: --json prints all of them.`);
    return;
  }
  for await (const item of items) await terminal.write(JSON.stringify(item));
};
