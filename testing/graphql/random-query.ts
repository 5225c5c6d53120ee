// Over 200 lines, because it is one generator, which follows the schema from type to type.
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Random } from '../random.ts';

type RandomQuery = {
  readonly text: string;
  readonly variables: Record<string, unknown>;
  /** Whether one of its arguments must be refused, if its field is ever reached. */
  readonly isOdd: boolean;
};

/** Candidates for arguments, so that some of them find something. */
export type Known = {
  readonly ids: readonly (string | number)[];
  readonly cursors: ReadonlyMap<string, readonly string[]>;
  readonly searches: readonly string[];
  /** Of other filters, by name. */
  readonly words?: ReadonlyMap<string, readonly unknown[]>;
  /** Fields and arguments to leave out. */
  readonly omitted?: RegExp;
};

/** Groups of lists: they have a comparison of their own, with the pages of these lists. */
export const GROUPS = /Aggregate$/;

const DEPTH_MAX = 5;
const FIELDS_MAX = 4;
/** In the whole query; every further field is a leaf. */
const ITEMS_MAX = 60;

/** A random query over the whole schema: any field, argument, alias, fragment and directive. */
export const randomQuery = (random: Random, schema: GraphQLSchema, known: Known): RandomQuery => {
  const writer = new Writer(random, schema, known);
  const query = schema.getQueryType() as GraphQLObjectType;
  const selection = writer.selection(query, 0);
  const declared = writer.declarations.length > 0 ? `(${writer.declarations.join(', ')})` : '';
  return {
    text: `query${declared} ${selection}\n${writer.fragments.join('\n')}`,
    variables: writer.variables,
    isOdd: writer.isOdd,
  };
};

/** A random subscription to all fields of a change. */
export const randomSubscription = (random: Random, schema: GraphQLSchema, known: Known): RandomQuery => {
  const writer = new Writer(random, schema, known);
  const selection = writer.selection(schema.getType('Change') as GraphQLObjectType, 0);
  const declared = writer.declarations.length > 0 ? `(${writer.declarations.join(', ')})` : '';
  const text = `subscription${declared} { changes ${selection} }\n${writer.fragments.join('\n')}`;
  return { text, variables: writer.variables, isOdd: writer.isOdd };
};

/**
 * Leaves out the fields of federation, the cursor of the read model, which its rows do not contain, webhooks
 * with their deliveries, which resolvers always read, and histories, proofs and readers, which are not in the rows.
 */
const isCommon = ({ name }: GraphQLField<unknown, unknown>, type: GraphQLNamedType): boolean =>
  !/^(_|webhook|eventTypes|auditStatus|deliveriesConnection$|history$|proof$|readers$|coverAddress$)/.test(
    name,
  ) && !(type.name === 'Query' && name === 'cursor');

class Writer {
  readonly declarations: string[] = [];
  readonly fragments: string[] = [];
  readonly variables: Record<string, unknown> = {};
  isOdd = false;
  readonly #random: Random;
  readonly #schema: GraphQLSchema;
  readonly #known: Known;
  #aliases = 0;
  #items = 0;

  constructor(random: Random, schema: GraphQLSchema, known: Known) {
    this.#random = random;
    this.#schema = schema;
    this.#known = known;
  }

  selection(type: GraphQLNamedType, depth: number): string {
    const { some, chance } = this.#random;
    const first = this.#item(type, depth);
    const items = [first, ...some(FIELDS_MAX - 1, () => this.#item(type, depth))];
    // The same field once more is merged.
    if (chance(10)) items.push(first);
    return `{ ${items.join(' ')} }`;
  }

  #item(type: GraphQLNamedType, depth: number): string {
    const { chance } = this.#random;
    this.#items += 1;
    if (this.#items > ITEMS_MAX || chance(85)) return this.#field(type, depth);
    const condition = this.#condition(type);
    const body = this.selection(condition, depth);
    if (chance(50)) {
      const name = `F${this.fragments.length}`;
      this.fragments.push(`fragment ${name} on ${condition.name} ${body}`);
      return `...${name}${this.#directive()}`;
    }
    return `... ${condition === type && chance(50) ? '' : `on ${condition.name}`}${this.#directive()} ${body}`;
  }

  #condition(type: GraphQLNamedType): GraphQLNamedType {
    const { pick } = this.#random;
    if (isAbstractType(type))
      return pick([...this.#schema.getPossibleTypes(type).filter(({ name }) => name !== 'Webhook'), type]);
    if (isObjectType(type)) return pick([type, ...type.getInterfaces()]);
    return type;
  }

  #field(type: GraphQLNamedType, depth: number): string {
    const { pick, chance } = this.#random;
    if (!(isObjectType(type) || isInterfaceType(type)) || this.#items > ITEMS_MAX || chance(5))
      return `${this.#alias(30)}__typename${this.#directive()}`;
    const fields = Object.values<GraphQLField<unknown, unknown>>(type.getFields()).filter(
      (each) => isCommon(each, type) && !this.#isOmitted(each),
    );
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
    const objects = fields.filter((field) => !leaves.includes(field));
    const isDeep = depth >= DEPTH_MAX || objects.length === 0 || (leaves.length > 0 && chance(50));
    const field = pick(
      isDeep && leaves.length > 0 ? leaves : objects.length > 0 && !isDeep ? objects : [...fields],
    );
    const named = getNamedType(field.type);
    const args = this.#arguments(field);
    const inner = isLeafType(named) ? '' : ` ${this.selection(named, depth + 1)}`;
    return `${this.#alias(field.args.length > 0 ? 100 : 20)}${field.name}${args}${this.#directive()}${inner}`;
  }

  #isOmitted({ name }: { readonly name: string }): boolean {
    return this.#known.omitted?.test(name) ?? false;
  }

  #alias(percent: number): string {
    this.#aliases += 1;
    return this.#random.chance(percent) ? `_${this.#aliases}: ` : '';
  }

  #directive(): string {
    const { chance, pick } = this.#random;
    if (!chance(12)) return '';
    const name = pick(['include', 'skip']);
    const value = chance(85) === (name === 'include');
    return ` @${name}(if: ${chance(50) ? this.#variable('Boolean!', value) : value})`;
  }

  #arguments({ args, type }: GraphQLField<unknown, unknown>): string {
    const { chance } = this.#random;
    const isGiven = (arg: GraphQLArgument) =>
      arg.name !== 'at' &&
      !this.#isOmitted(arg) &&
      (isNonNullType(arg.type) || chance(arg.name === 'filter' ? 50 : 30));
    // In the order of the schema, `sort` would come too late for the cursors.
    const given = args
      .filter(isGiven)
      .toSorted((one, other) => Number(other.name === 'sort') - Number(one.name === 'sort'));
    const connection = getNamedType(type);
    const item = isObjectType(connection) ? String(getNamedType(connection.getFields().nodes?.type)) : '';
    const values = new Map<string, unknown>();
    const written = given.map((arg) => {
      const value =
        !isNonNullType(arg.type) && chance(5)
          ? null
          : this.#value(arg.name, getNamedType(arg.type) as GraphQLNamedType, { item, values });
      values.set(arg.name, value);
      return `${arg.name}: ${this.#argument(arg, value)}`;
    });
    if ((values.get('first') ?? null) !== null && (values.get('last') ?? null) !== null) this.isOdd = true;
    return written.length > 0 ? `(${written.join(', ')})` : '';
  }

  #argument({ type }: GraphQLArgument, value: unknown): string {
    const { chance } = this.#random;
    if (!chance(40)) return literalOf(value, getNamedType(type) as GraphQLNamedType);
    // A null may as well be absent.
    return this.#variable(String(type), value === null && chance(50) ? undefined : value);
  }

  #value(
    name: string,
    type: GraphQLNamedType,
    list: { readonly item: string; readonly values: ReadonlyMap<string, unknown> },
  ): unknown {
    const { pick, chance, below } = this.#random;
    if (isEnumType(type)) return pick(type.getValues()).name;
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter((field) => !this.#isOmitted(field) && chance(35));
      return Object.fromEntries(
        fields.map((field) => [
          field.name,
          chance(10) ? null : this.#value(field.name, getNamedType(field.type) as GraphQLNamedType, list),
        ]),
      );
    }
    if (type.name === 'ID')
      return chance(90) ? pick(this.#known.ids) : pick(['no id', '0', '-1', '9007199254740993', '1e3']);
    if (name === 'after' || name === 'before')
      return this.#cursor(list.item, String(list.values.get('sort')));
    const words = this.#known.words?.get(name);
    if (words !== undefined) return pick(words);
    if (name === 'tag') return pick(['tag-0', 'tag-1', 'none']);
    if (name === 'search') return pick(this.#known.searches);
    // Either direction, not both.
    if (name === 'last' && (list.values.get('first') ?? null) !== null && chance(95)) return null;
    if (chance(99)) return pick([1, 2, 3, 5, 100, 0, below(9)]);
    this.isOdd = true;
    return pick([101, -1]);
  }

  #cursor(item: string, sort: string): string | null {
    const { chance, pick } = this.#random;
    const cursors =
      this.#known.cursors.get(`${item} ${sort.startsWith('PUBLISHED') ? 'published_at' : 'created_at'}`) ??
      [];
    if (cursors.length === 0) return null;
    if (chance(98)) return pick(cursors);
    this.isOdd = true;
    return pick(['no cursor', ...[...this.#known.cursors.values()].flat()]);
  }

  #variable(type: string, value: unknown): string {
    const name = `v${this.declarations.length}`;
    this.declarations.push(`$${name}: ${type}`);
    if (value !== undefined) this.variables[name] = value;
    return `$${name}`;
  }
}

const literalOf = (value: unknown, type: GraphQLNamedType): string => {
  if (value === null) return 'null';
  if (isEnumType(type)) return String(value);
  if (isInputObjectType(type)) {
    const fields = Object.entries(value as object).map(
      ([name, field]) =>
        `${name}: ${literalOf(field, getNamedType(type.getFields()[name]?.type) as GraphQLNamedType)}`,
    );
    return `{ ${fields.join(', ')} }`;
  }
  return JSON.stringify(value);
};
