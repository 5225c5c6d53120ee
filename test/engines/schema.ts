import { publishing } from '#domain/publishing.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';

export const schema = schemaOf(publishing);
