// Over 200 lines, because it is one text: the description of a domain for people.
import type { AggregateDescription, DomainDescription } from './description.ts';
import type { ViewDescription } from './description-views.ts';
import { scheduleLine } from './schedules.ts';

export const textOf = ({
  domain,
  roles,
  signUp,
  scopes,
  aggregates,
  views,
  senders,
}: DomainDescription): string =>
  [
    ...(aggregates.length + views.length === 1
      ? []
      : [
          [
            domain,
            ...indented([
              `roles: ${roles.join(', ')}; users who sign up get the role ${signUp}`,
              `scopes: ${scopes.join(', ')}`,
            ]),
          ].join('\n'),
        ]),
    ...aggregates.map(textOfAggregate),
    ...views.map(textOfView),
    ...senders.map(textOfSender),
  ].join('\n\n');

const textOfSender = ({
  name,
  says,
  role,
  scheme,
  path,
  setting,
  messages,
}: DomainDescription['senders'][number]): string =>
  [
    says === undefined ? name : `${name}: ${says}`,
    ...indented([
      `a sender to POST ${path}, if inbox() is served, as ${role}, signed by ${scheme} with ${setting}`,
      ...part('Messages', columnsOf(messages.map(({ type, kind, command }) => [type, `${command} ${kind}`]))),
    ]),
  ].join('\n');

const textOfView = ({
  name,
  says,
  key,
  values,
  shares,
  operations,
  queries,
  rights,
  tables,
}: ViewDescription): string =>
  [
    says === undefined ? name : `${name}: ${says}`,
    ...indented([
      `a view by ${key.map((each) => (each.name === each.kind ? each.name : `${each.name} (${each.kind})`)).join(', ')}`,
      ...part(
        'Values',
        columnsOf(
          values.map(({ name: value, kind, of }) => [value, of === undefined ? kind : `${kind} ${of}`]),
        ),
      ),
      ...part('Shares', columnsOf(shares.map(({ event, by, does }) => [event, `by ${by}`, does]))),
      ...operationLines(operations),
      ...part(
        'GraphQL',
        queries.map((text) => `query ${text}`),
      ),
      ...part('Rights', columnsOf(rights.map(({ scope, says: sentence }) => [scope, sentence]))),
      ...tableParts(tables),
    ]),
  ].join('\n');

const operationLines = (operations: AggregateDescription['operations']): readonly string[] =>
  part(
    'Operations',
    columnsOf(operations.map(({ method, path, scope = '', id }) => [method, path, scope, id])),
  );

const tableParts = (tables: AggregateDescription['tables']): readonly string[] =>
  part(
    'Tables',
    tables.flatMap(({ table, columns, indexes }) => [table, ...indented([...columns, ...indexes])]),
  );

const textOfAggregate = (aggregate: AggregateDescription): string => {
  const { name, says, streams, owner, parent, operations, graphql, rights } = aggregate;
  const about = [
    `streams ${streams}`,
    ...(parent === undefined ? [] : [`under ${parent}`]),
    ...(owner === undefined ? [] : [`owned by ${owner}`]),
  ];
  return [
    says === undefined ? name : `${name}: ${says}`,
    ...indented([
      about.join(', '),
      ...part('Fields', aggregate.fields.map(fieldLine)),
      ...operationLines(operations),
      ...part('GraphQL', [
        `type ${graphql.type}`,
        ...indented(graphql.fields),
        ...graphql.queries.map((text) => `query ${text}`),
        ...graphql.mutations.map((text) => `mutation ${text}`),
        ...graphql.subscriptions.map((text) => `subscription ${text}`),
      ]),
      ...part('Events', columnsOf(aggregate.events.map(eventRow))),
      ...part('Rights', columnsOf(rights.map(({ scope, says: sentence }) => [scope, sentence]))),
      ...tableParts(aggregate.tables),
      ...part(
        'Reactions',
        aggregate.reactions.map(
          ({ to, runs, ...only }) => `to ${to}: ${runs}${'if' in only ? ` if ${only.if}` : ''}`,
        ),
      ),
      ...part(
        'Changes elsewhere',
        aggregate.also.map(
          ({ command, reference, events }) => `${command}: ${events.join(', ')} of ${reference}`,
        ),
      ),
      ...part(
        'Confirmed by a person',
        aggregate.confirms.map((command) => `${command}: if an agent sends it`),
      ),
      ...part('Limits', aggregate.limits.map(limitLine)),
      ...part('Timers', aggregate.timers.map(timerLine)),
      ...part('Schedules', aggregate.schedules.map(scheduleLine)),
      ...part('Personal', aggregate.personal.map(personalLine)),
    ]),
  ].join('\n');
};

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
const part = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...indented(lines)];

const GAP = 2;

/** Each column is as wide as its widest cell. */
const columnsOf = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = (rows[0] ?? []).map(
    (_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)) + GAP,
  );
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('')
      .trimEnd(),
  );
};

const fieldLine = (field: AggregateDescription['fields'][number]): string => {
  if ('items' in field)
    return `${field.name}: list of at most ${field.max}, each with ${[field.id, ...field.items].join(', ')}`;
  const { name, kind, target, values, initial } = field;
  const more = [
    ...(values === undefined ? [] : [values.join(' | ')]),
    ...(field.optional ? ['optional'] : []),
    ...(initial === undefined ? [] : [`at first ${JSON.stringify(initial)}`]),
    ...(field.personal ? ['personal'] : []),
    ...(field.derived ? ['follows from its items'] : []),
  ];
  return `${name}: ${target ?? kind}${more.length === 0 ? '' : `, ${more.join(', ')}`}`;
};

const limitLine = ({ max, per, refusal, ...only }: AggregateDescription['limits'][number]): string => {
  const among = per.length === 0 ? 'at all' : `with the same ${per.join(' and ')}`;
  return `at most ${max} ${among}${'while' in only ? `, while ${only.while}` : ''}, or ${refusal}`;
};

const eventRow = (event: AggregateDescription['events'][number]): readonly string[] => {
  const {
    type,
    version,
    effect,
    list,
    sets,
    setsOfItem,
    data,
    hidden,
    upcastsFrom = [],
    sealed = [],
  } = event;
  const more = [
    ...(sets === undefined ? [] : Object.entries(sets).map(([field, value]) => `${field} = ${value}`)),
    ...Object.entries(setsOfItem ?? {}).map(([field, value]) => `${list}.${field} = ${value}`),
    ...(sealed.length === 0 ? [] : [`sealed: ${sealed.join(', ')}`]),
    ...(upcastsFrom.length === 0 ? [] : [`read from version ${upcastsFrom.join(', ')}`]),
    ...(hidden ? ['hidden'] : []),
  ];
  return [
    type,
    `v${version}`,
    list === undefined ? effect : `${effect} ${list}`,
    [data.join(', '), ...more].join('; '),
  ];
};

const timerLine = ({ name, runs, ...only }: AggregateDescription['timers'][number]): string =>
  [
    `${name}: ${runs}, ${
      'at' in only
        ? `${'before' in only ? `${only.before} before` : 'at'} ${only.at}`
        : `${only.wait} after ${only.after}`
    }`,
    ...('while' in only ? [`while ${only.while}`] : []),
    ...('pause' in only ? [`paused while ${only.pause}`] : []),
  ].join(', ');

const personalLine = ({
  field,
  keyOf,
  events,
  columns,
  ...only
}: AggregateDescription['personal'][number]): string =>
  `${field}: under the key of ${keyOf}, in ${[...events, ...columns].join(', ')}${'erased' in only ? `; then “${only.erased}”` : ''}`;
