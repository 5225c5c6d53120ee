import { publishing } from '#domain/publishing.ts';
import { schemaOf } from '../../query/graphql/schema.ts';

/** What GraphQL offers of publishing. */
export const schema = schemaOf(publishing);
