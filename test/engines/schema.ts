import { publishing } from '#domain/publishing.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';

/** The GraphQL schema of publishing. */
export const schema = schemaOf(publishing);
