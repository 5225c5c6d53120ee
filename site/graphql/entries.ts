import {
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  print,
} from 'graphql';
import { type Html, html } from '#shared/html.ts';
import { renderLine } from '../guides/markdown.ts';

type Field = GraphQLField<unknown, unknown>;

/** A type with all its fields or values, each with an anchor. */
export const typeEntry = (
  type: GraphQLNamedType,
): Html => html`<section class="entry" data-name="${namesIn(type).toLowerCase()}">
<h3 id="${type.name}"><code>${type.name}</code> <a class="anchor" href="#${type.name}" aria-label="Link to ${type.name}">#</a></h3>
${described(type.description)}
${familyOf(type)}
${membersOf(type)}
</section>
`;

const namesIn = (type: GraphQLNamedType): string => {
  if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
    return `${type.name} ${Object.keys(type.getFields()).join(' ')}`;
  return isEnumType(type) ? `${type.name} ${valuesOf(type.getValues())}` : type.name;
};

const valuesOf = (values: readonly GraphQLEnumValue[]): string => values.map(({ name }) => name).join(' ');

const familyOf = (type: GraphQLNamedType): Html | false => {
  const links = (types: readonly GraphQLNamedType[]): Html =>
    html`${types.map((each, index) => html`${index > 0 && ', '}${linkTo(each)}`)}`;
  if (isUnionType(type)) return html`<p>Any of ${links(type.getTypes())}.</p>`;
  const interfaces = isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : [];
  return interfaces.length > 0 && html`<p>Is a ${links(interfaces)}.</p>`;
};

const membersOf = (type: GraphQLNamedType): Html | false => {
  if (isObjectType(type) || isInterfaceType(type)) {
    return html`<div class="members">${Object.values(type.getFields()).map((field) => html`<div id="${type.name}.${field.name}">${fieldEntry(field)}</div>\n`)}</div>`;
  }
  if (isInputObjectType(type)) {
    return html`<div class="members">${Object.values(type.getFields()).map((field) => html`<div id="${type.name}.${field.name}">${inputEntry(field)}</div>\n`)}</div>`;
  }
  return (
    isEnumType(type) &&
    html`<div class="members">${type.getValues().map((value) => html`<div id="${type.name}.${value.name}">${valueEntry(value)}</div>\n`)}</div>`
  );
};

export const fieldEntry = (
  field: Field,
  { scopes = [] }: { readonly scopes?: readonly string[] } = {},
): Html => {
  const { name, args, type, description, deprecationReason } = field;
  return html`<p class="signature"><code>${name}${args.length > 0 && html`(${args.map((each, index) => html`${index > 0 && ', '}${inputOf(each)}`)})`}: ${typeText(type)}</code></p>
${described(description)}
${deprecated(deprecationReason)}
${args.filter(({ description: said }) => said).map((each) => html`<p><code>${each.name}</code>: ${renderLine(each.description ?? '')}</p>`)}
${scopes.length > 0 && html`<p class="scopes">Scope: ${scopes.map((scope, index) => html`${index > 0 && ', '}<code>${scope}</code>`)}</p>`}`;
};

const inputEntry = (field: GraphQLInputField): Html =>
  html`<p class="signature"><code>${inputOf(field)}</code></p>${described(field.description)}${deprecated(field.deprecationReason)}`;

const valueEntry = ({ name, description, deprecationReason }: GraphQLEnumValue): Html =>
  html`<p class="signature"><code>${name}</code></p>${described(description)}${deprecated(deprecationReason)}`;

export const directiveEntry = ({
  name,
  args,
  locations,
  description,
}: GraphQLDirective): Html => html`<section class="entry" data-name="${name.toLowerCase()}">
<h3 id="@${name}"><code>@${name}</code> <a class="anchor" href="#@${name}" aria-label="Link to @${name}">#</a></h3>
${described(description)}
<p class="signature"><code>@${name}${args.length > 0 && html`(${args.map((each, index) => html`${index > 0 && ', '}${inputOf(each)}`)})`} on ${locations.join(' | ')}</code></p>
</section>
`;

const inputOf = ({ name, type, default: fallback }: GraphQLArgument | GraphQLInputField): Html =>
  html`${name}: ${typeText(type)}${fallback?.literal && ` = ${print(fallback.literal)}`}`;

/** As in SDL, with a link to the named type. */
const typeText = (type: GraphQLOutputType | GraphQLInputType): Html => {
  if (isNonNullType(type)) return html`${typeText(type.ofType)}!`;
  if (isListType(type)) return html`[${typeText(type.ofType)}]`;
  return linkTo(type);
};

const linkTo = ({ name }: GraphQLNamedType): Html => html`<a href="#${name}">${name}</a>`;

const described = (text: string | null | undefined): Html | false =>
  !!text && html`<p>${renderLine(text)}</p>`;

const deprecated = (reason: string | null | undefined): Html | false =>
  !!reason && html`<p class="deprecated">Deprecated: ${renderLine(reason)}</p>`;
