import type { JsonObject } from '#kernel/base/json.ts';
import { breaksReaders, compareSchemas, type SchemaChange } from './compare-schemas.ts';
import type { Contract, OperationContract } from './contract.ts';
import { adds, breaks, byName, type Finding, warns } from './finding.ts';

const KEEP = 'Keep the command in the declaration, and add the new one beside it.';
const KEEP_FIELD = 'Keep the field unchanged, and add the new one beside it.';

type Named = Readonly<Record<string, JsonObject>>;

/** Requests that clients send must still be accepted, and answers must still contain what they read. */
export const compareOperations = (
  before: Contract['operations'],
  after: Contract['operations'],
): readonly Finding[] => {
  const { gone, came, both } = byName(before.operations, after.operations);
  const named = [before.schemas, after.schemas] as const;
  return [
    ...gone.map((name) => breaks(`operation ${name}`, 'The operation was removed.', KEEP)),
    ...both.flatMap(([name, was, is]) => [
      ...callChanges(name, was, is),
      ...given(`query ${name}`, [was.query, is.query], named),
      ...bodyChanges(name, [was, is], named),
      ...answerChanges(name, [was, is], named),
    ]),
    ...came.map((name) => adds(`operation ${name}`, 'The operation is new.')),
  ];
};

const callChanges = (name: string, was: OperationContract, is: OperationContract): readonly Finding[] => [
  ...(was.id === is.id
    ? []
    : [warns(`operation ${name}`, `Generated clients call it ${is.id} instead of ${was.id}.`)]),
  ...(was.right === undefined || was.right === is.right
    ? []
    : [
        warns(
          `operation ${name} right`,
          `It requires ${is.right ? `the right ${is.right}` : 'no right'} instead of ${was.right ?? 'none'}.`,
        ),
      ]),
  ...(is.refusals ?? [])
    .filter((code) => !was.refusals?.includes(code))
    .map((code) => adds(`operation ${name} ${code}`, `It can now be refused with ${code}.`)),
];

type Pair<T> = readonly [was: T, is: T];

const bodyChanges = (
  name: string,
  [was, is]: Pair<OperationContract>,
  named: Pair<Named>,
): readonly Finding[] => {
  const { gone, came, both } = byName(was.body ?? {}, is.body ?? {});
  const isNew = was.body === undefined && is.body !== undefined && !is.isBodyOptional;
  const isDemanded = was.isBodyOptional && is.body !== undefined && !is.isBodyOptional;
  return [
    ...gone.map((type) => breaks(`body ${name} ${type}`, `It no longer accepts ${type}.`, KEEP)),
    ...(isNew || isDemanded
      ? [breaks(`body ${name}`, 'It now requires a body, which clients do not send.', KEEP)]
      : []),
    ...both.flatMap(([, before, after]) =>
      given(
        `body ${name}`,
        [before, after],
        named,
        name.startsWith('PUT ') ? sentBackIn([before, after], named) : NOTHING_SENT,
      ),
    ),
    ...(isNew ? [] : came.map((type) => adds(`body ${name} ${type}`, `It takes ${type} too.`))),
  ];
};

const answerChanges = (
  name: string,
  [was, is]: Pair<OperationContract>,
  named: Pair<Named>,
): readonly Finding[] => {
  const what = `answer ${name}`;
  const { status, kind } = was.answer;
  if (status !== is.answer.status || kind !== is.answer.kind)
    return [
      breaks(
        what,
        `It returned ${status} with ${kind}, and now returns ${is.answer.status} with ${is.answer.kind}.`,
        KEEP,
      ),
    ];
  return changesOf([was.answer.schema, is.answer.schema], named).map((change) => {
    const [each, says] = [`${what} ${change.path}`.trim(), sentenceOf(change)];
    return breaksReaders(change) ? breaks(each, says, KEEP_FIELD) : adds(each, says);
  });
};

/** Compares the input of an operation. A client that sends back its whole answer sends some fields already. */
const given = (
  what: string,
  pair: Pair<JsonObject | undefined>,
  named: Pair<Named>,
  sent = NOTHING_SENT,
): readonly Finding[] =>
  changesOf(pair, named).map((change) => {
    const [each, says] = [`${what} ${change.path}`.trim(), sentenceOf(change)];
    if (['came', 'wider', 'optional', 'nullable'].includes(change.kind)) return adds(each, says);
    const isSent =
      change.kind === 'cameRequired'
        ? sent.optional.has(change.path)
        : sent.unheeded.has(change.path) && (change.kind === 'required' || change.kind === 'other');
    return isSent ? warns(each, says) : breaks(each, says, insteadOf(change));
  });

type Sent = {
  /** The fields that a client may send back with any value, although they cannot be changed. */
  readonly unheeded: ReadonlySet<string>;
  /** The fields that may be null: a new one is in the answer that a client sends back. */
  readonly optional: ReadonlySet<string>;
};
const NOTHING_SENT: Sent = { unheeded: new Set(), optional: new Set() };

const sentBackIn = ([was, is]: Pair<JsonObject>, [before, after]: Pair<Named>): Sent => {
  const having = (of: JsonObject, named: Named, isSuch: (schema: JsonObject) => boolean) =>
    new Set(
      Object.entries(propertiesOf(of, named)).flatMap(([name, schema]) => (isSuch(schema) ? [name] : [])),
    );
  return {
    unheeded: having(was, before, ({ description, ...schema }) => Object.keys(schema).length === 0),
    optional: having(is, after, ({ anyOf, type }) =>
      [anyOf, type]
        .flat()
        .some((each) => each === 'null' || (each as JsonObject | undefined)?.type === 'null'),
    ),
  };
};

const propertiesOf = ({ $ref, ...own }: JsonObject, named: Named): Named => {
  const { properties = {} } = typeof $ref === 'string' ? (named[$ref.split('/').at(-1) ?? ''] ?? {}) : own;
  return properties as Named;
};

const OPTIONAL = 'Make it `optional()`, or give it a `default`.';

const insteadOf = ({ kind }: SchemaChange): string =>
  kind === 'cameRequired' || kind === 'required' ? OPTIONAL : KEEP_FIELD;

const NOTHING: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

const changesOf = (
  [was = NOTHING, is = NOTHING]: Pair<JsonObject | undefined>,
  [before, after]: Pair<Named>,
): readonly SchemaChange[] => compareSchemas({ schema: was, named: before }, { schema: is, named: after });

const sentenceOf = ({ path, says }: SchemaChange): string => `${path === '' ? 'It' : path} ${says}.`;
