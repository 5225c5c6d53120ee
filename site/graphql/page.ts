import {
  type GraphQLDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  isUnionType,
  OperationTypeNode,
  parse,
} from 'graphql';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { type Policy, policyOf, scopeOf } from '#shared/policy.ts';
import { rightsOf } from '../../query/graphql/rules/rights.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';
import { filterField } from '../page/filter.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';
import { directiveEntry, fieldEntry, typeEntry } from './entries.ts';

const PATH = '/docs/graphql';

/** The schema as served; only the introduction is written by hand. */
export const graphqlPage = (domain: Domain): DocsPage => ({
  path: PATH,
  title: 'GraphQL',
  scripts: ['filter.js'],
  content: () => readContent(policyOf(domain)),
});

type Chapter = { readonly id: string; readonly title: string; readonly entries: readonly Html[] };

const readContent = (policy: Policy): Content => {
  const schema = schemaOf(policy.domain);
  const chapters = [
    ...ROOTS.map((root) => rootChapter(schema, root, policy)),
    ...KINDS.map((kind) => kindChapter(schema, kind)),
    directiveChapter(schema),
  ].filter(({ entries }) => entries.length > 0);
  return {
    body: html`${INTRODUCTION}
${filterField('Find a type or a field')}
${chapters.map(({ id, title, entries }) => html`<h2 id="${id}">${title}</h2>\n${entries}`)}`,
    sections: chapters.map(({ id, title }) => ({ id, title })),
  };
};

const INTRODUCTION = html`<h1>GraphQL</h1>
<p>The endpoint is <code>POST /graphql</code>; subscriptions return <code>text/event-stream</code>. If introspection is on, as in
development, browsers get <a href="${hrefFrom(PATH, '/graphql')}">GraphiQL</a> at the same address, to try all of this. Each field lists the scopes that a token needs for it.
Public data can be read without a token, and with any token. A mutation needs the scopes of all the fields that it returns. The <a href="${hrefFrom(PATH, '/docs/settings')}">settings</a> limit the depth, length and cost of an operation;
<a href="${hrefFrom(PATH, '/docs/guides/changes')}">a guide</a> explains how to follow changes.</p>
<p>The fields of a mutation run one after the other, each as its own command, and an error ends the mutation: <code>data</code> is then null, but the fields before
it stay committed. <code>extensions.mutation</code> lists the fields that ran: <code>field</code> (its name in the response), <code>committed</code>, and if it was committed the
<code>id</code> of the item, the <code>cursor</code>, and for a requested test, replay or redelivery of a webhook the <code>eventId</code>. Each error has the same facts about its own field in
<code>extensions</code>, and <code>committedBefore</code> lists the fields committed before it. <code>committed</code> is <code>true</code>, <code>false</code>, or
<code>null</code> if it is unknown, because the log did not answer. With an <code>Idempotency-Key</code>, which applies to each field by its name in the response, a client can safely retry
the mutation: committed fields are not committed twice, and return the same response. If <code>code</code> is <code>not_yet_visible</code>, the field is committed, and a read with its cursor as
<code>Consistency-Token</code> waits for it.</p>`;

const ROOTS = [
  ['queries', 'Queries', OperationTypeNode.QUERY],
  ['mutations', 'Mutations', OperationTypeNode.MUTATION],
  ['subscriptions', 'Subscriptions', OperationTypeNode.SUBSCRIPTION],
] as const;

const rootChapter = (
  schema: GraphQLSchema,
  [id, title, operation]: (typeof ROOTS)[number],
  policy: Policy,
): Chapter => {
  const root = schema.getRootType(operation);
  return {
    id,
    title,
    entries: root
      ? Object.keys(root.getFields())
          .toSorted(byName)
          .map((name) =>
            rootEntry(root, {
              name,
              scopes: scopesOf(`${operation} { ${name} { __typename } }`, schema, policy),
            }),
          )
      : [],
  };
};

type Entry = { readonly name: string; readonly scopes: readonly string[] };

const rootEntry = (root: GraphQLObjectType, { name, scopes }: Entry): Html => {
  const field = root.getFields()[name];
  if (field === undefined) throw new Error(`${root.name} has no ${name}`);
  return html`<section class="entry" data-name="${name.toLowerCase()}">
<h3 id="${root.name}.${name}"><code>${name}</code> <a class="anchor" href="#${root.name}.${name}" aria-label="Link to ${name}">#</a></h3>
${fieldEntry(field, { scopes })}
</section>
`;
};

/** The scopes that the endpoint demands for the field, computed by the same code. */
const scopesOf = (text: string, schema: GraphQLSchema, policy: Policy): readonly string[] => {
  const document = parse(text);
  const [definition] = document.definitions;
  if (definition?.kind !== 'OperationDefinition') return [];
  return [
    ...new Set(
      [...rightsOf({ domain: policy.domain, schema }, document, definition)].map((right) =>
        scopeOf(policy, right),
      ),
    ),
  ];
};

const KINDS: readonly (readonly [id: string, title: string, is: (type: GraphQLNamedType) => boolean])[] = [
  ['objects', 'Objects', isObjectType],
  ['interfaces', 'Interfaces', isInterfaceType],
  ['unions', 'Unions', isUnionType],
  ['inputs', 'Inputs', isInputObjectType],
  ['enums', 'Enumerations', isEnumType],
  ['scalars', 'Scalars', isScalarType],
];

const kindChapter = (schema: GraphQLSchema, [id, title, is]: (typeof KINDS)[number]): Chapter => {
  const roots = new Set<GraphQLNamedType | null | undefined>(
    ROOTS.map(([, , operation]) => schema.getRootType(operation)),
  );
  return {
    id,
    title,
    entries: Object.values(schema.getTypeMap())
      .filter(
        (type) =>
          is(type) &&
          !isIntrospectionType(type) &&
          !roots.has(type) &&
          (!isSpecifiedScalarType(type) || is === isScalarType),
      )
      .toSorted((one, other) => byName(one.name, other.name))
      .map(typeEntry),
  };
};

/** Names for gateways begin with an underscore, and come last. */
const byName = (one: string, other: string): number =>
  Number(one.startsWith('_')) - Number(other.startsWith('_')) ||
  one.localeCompare(other, 'en', { sensitivity: 'base' });

const directiveChapter = (schema: GraphQLSchema): Chapter => ({
  id: 'directives',
  title: 'Directives',
  entries: schema.getDirectives().filter(isOurs).map(directiveEntry),
});

const isOurs = (directive: GraphQLDirective): boolean => !isSpecifiedDirective(directive);
