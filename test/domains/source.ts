import {
  type AggregatePlan,
  CODE,
  type DomainPlan,
  type FieldPlan,
  type FieldPlans,
  type SenderPlan,
  type ViewPlan,
} from './plan.ts';
import { SECRETS_SETTING } from './sender-setting.ts';

/** The declaration as an author writes it: a whole file, which `DOMAIN_FILE` can name. */
export const fileOf = (plan: DomainPlan): string => {
  const body = [...linesOf(plan), `export const generated = ${assembled(plan)};`, ''];
  const used = (names: readonly string[]) =>
    names.filter((name) => body.join().includes(`${name}(`)).join(', ');
  return [
    "import { assemble } from '#kernel/assembly/assemble.ts';",
    "import { domain } from '#kernel/declare/domain.ts';",
    `import { ${used(FIELD_TYPES)} } from '#kernel/declare/fields.ts';`,
    ...(used(VALUES) === '' ? [] : [`import { ${used(VALUES)} } from '#kernel/declare/view.ts';`]),
    ...(Object.keys(plan.senders).length === 0
      ? []
      : ["import { message, sender } from '#kernel/sender/sender.ts';"]),
    '',
    ...body,
  ].join('\n');
};

export const VALUES = 'avg count latest max min sum'.split(' ');

/** The body of a function of everything that a declaration imports; it returns the domain. */
export const bodyOf = (plan: DomainPlan): string =>
  [...linesOf(plan), `return ${assembled(plan)};`].join('\n');

export const FIELD_TYPES =
  'choice date file flag instant integer line list markdown month picture prose ref set states week word'.split(
    ' ',
  );

const linesOf = ({ roles, user, aggregates, views, senders }: DomainPlan): readonly string[] => {
  const known = new Set<string>();
  const added = {
    ...((Object.keys(user.fields).length > 0 || user.hold !== undefined) && {
      user: raw(
        `{ fields: ${fieldsText(user.fields, known)}, fieldRights: ${text(user.fieldRights)}${user.hold === undefined ? '' : entries({ hold: user.hold })} }`,
      ),
    }),
  };
  return [
    `const base = domain({ name: 'generated', roles: ${text(roles)}${entries(added)} });`,
    'const { aggregate, user, view } = base;',
    ...Object.entries(aggregates).map(([name, plan]) => {
      const line = `const ${variable(name)} = aggregate(${text(name)}, ${aggregateText(plan, known)});`;
      known.add(name);
      return line;
    }),
    ...Object.entries(views).map(
      ([name, plan]) => `const ${variable(name)} = view(${text(name)}, ${viewText(plan, known)});`,
    ),
    ...Object.entries(senders).map(
      ([name, plan]) => `const ${ofSender(name)} = sender(base, ${text(name)}, ${senderText(plan)});`,
    ),
  ];
};

/** Messages name fields that every kind has, or nothing. */
const PAYLOAD = "{ '~standard': { version: 1, validate: (value) => ({ value }) } }";

const senderText = ({ on, ...rest }: SenderPlan): string =>
  text({
    ...rest,
    signature: { scheme: 'standard-webhooks', secrets: SECRETS_SETTING },
    on: Object.fromEntries(
      Object.entries(on).map(([type, { kind, command, given }]) => [
        type,
        raw(`message(${variable(kind)}, ${text(command)}, { payload: ${PAYLOAD}, given: ${text(given)} })`),
      ]),
    ),
  });

const ofSender = (name: string): string => `$sender_${name.replaceAll('-', '_')}`;

const assembled = ({ aggregates, views, senders }: DomainPlan): string => {
  const listed = (names: readonly string[]): string => `[${names.join(', ')}]`;
  const lists = [
    Object.keys(aggregates).map(variable),
    Object.keys(views).map(variable),
    Object.keys(senders).map(ofSender),
  ];
  const last = lists.findLastIndex((names) => names.length > 0);
  return `assemble(base, ${lists
    .slice(0, Math.max(last, 0) + 1)
    .map(listed)
    .join(', ')})`;
};

/** Names of aggregates may be words of JavaScript. */
const variable = (name: string): string => `$${name}`;

const aggregateText = ({ fields, more, ...rest }: AggregatePlan, known: ReadonlySet<string>): string =>
  text({ fields: raw(fieldsText(fields, known)), ...rest, ...more });

const viewText = ({ of, key, values, ...rest }: ViewPlan, known: ReadonlySet<string>): string => {
  const numbers = Object.entries(values).map(([name, { value, field, isSorted }]) => {
    const given = field === undefined ? '' : fieldText(field, known);
    return [name, raw(`${value}(${given})${isSorted ? '.sort()' : ''}`)] as const;
  });
  return text({
    of: raw(`[${of.map(variable).join(', ')}]`),
    key: raw(fieldsText(key, known)),
    values: Object.fromEntries(numbers),
    ...rest,
  });
};

const fieldsText = (fields: FieldPlans, known: ReadonlySet<string>): string =>
  text(Object.fromEntries(Object.entries(fields).map(([name, plan]) => [name, raw(fieldText(plan, known))])));

const fieldText = ({ type, given, item, options }: FieldPlan, known: ReadonlySet<string>): string => {
  const shown = given.map((each) => {
    if (type !== 'ref' || typeof each === 'object')
      return type === 'set' && typeof each === 'object' ? fieldText(each as FieldPlan, known) : text(each);
    if (each === 'user') return 'user';
    return known.has(String(each)) ? variable(String(each)) : text(each);
  });
  const all = [...(item === undefined ? [] : [fieldsText(item, known)]), ...shown];
  const said = Object.entries(options).map(
    ([name, values]) => `.${name}(${values.map((value) => text(value)).join(', ')})`,
  );
  return `${type}(${all.join(', ')})${said.join('')}`;
};

const raw = (source: string): string => `${CODE}${source}`;
const NAME = /^[a-zA-Z_$][\w$]*$/;

const entries = (of: object): string =>
  Object.entries(of)
    .map(([name, value]) => `, ${name}: ${text(value)}`)
    .join('');

const text = (value: unknown): string => {
  if (typeof value === 'string')
    return value.startsWith(CODE) ? value.slice(CODE.length) : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${NAME.test(name) ? name : JSON.stringify(name)}: ${text(each)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
};
