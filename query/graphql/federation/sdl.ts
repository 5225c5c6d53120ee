import { type DefinitionNode, type DocumentNode, type FieldDefinitionNode, Kind, print } from 'graphql';
import { types } from '../schema.ts';

const HEAD = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])`;

/** The types as a subgraph tells them: without what the specification adds by itself. */
const subgraphSdl = ({ definitions }: DocumentNode): string => {
  const own = definitions.filter((definition) => !isOfFederation(definition)).map(withoutFields);
  return `${HEAD}\n\n${own.map(print).join('\n\n')}\n`;
};

const isOfFederation = (definition: DefinitionNode): boolean =>
  definition.kind === Kind.DIRECTIVE_DEFINITION ||
  ('name' in definition && isReserved(definition.name?.value)) ||
  (definition.kind === Kind.OBJECT_TYPE_EXTENSION && definition.fields?.every((field) => !isOwn(field)) === true);

const withoutFields = (definition: DefinitionNode): DefinitionNode =>
  definition.kind === Kind.OBJECT_TYPE_EXTENSION || definition.kind === Kind.OBJECT_TYPE_DEFINITION
    ? { ...definition, ...(definition.fields && { fields: definition.fields.filter(isOwn) }) }
    : definition;

const isOwn = ({ name }: FieldDefinitionNode): boolean => !isReserved(name.value);

const isReserved = (name: string | undefined): boolean => name?.startsWith('_') ?? false;

export const SUBGRAPH_SDL = subgraphSdl(types);
