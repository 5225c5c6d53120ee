import { type DefinitionNode, type FieldDefinitionNode, Kind, print } from 'graphql';
import type { Domain } from '#kernel/registry/registry.ts';
import { typesOf } from '../schema/schema.ts';

const HEAD = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])`;

/** The schema of the subgraph, without the definitions that the specification adds itself. */
export const subgraphSdlOf = (domain: Domain): string => {
  const own = typesOf(domain)
    .definitions.filter((definition) => !isOfFederation(definition))
    .map(withoutFields);
  return `${HEAD}\n\n${own.map(print).join('\n\n')}\n`;
};

const isOfFederation = (definition: DefinitionNode): boolean =>
  definition.kind === Kind.DIRECTIVE_DEFINITION ||
  ('name' in definition && isReserved(definition.name?.value)) ||
  (definition.kind === Kind.OBJECT_TYPE_EXTENSION &&
    definition.fields?.every((field) => !isOwn(field)) === true);

const withoutFields = (definition: DefinitionNode): DefinitionNode =>
  definition.kind === Kind.OBJECT_TYPE_EXTENSION || definition.kind === Kind.OBJECT_TYPE_DEFINITION
    ? { ...definition, ...(definition.fields && { fields: definition.fields.filter(isOwn) }) }
    : definition;

const isOwn = ({ name }: FieldDefinitionNode): boolean => !isReserved(name.value);

const isReserved = (name: string | undefined): boolean => name?.startsWith('_') ?? false;
