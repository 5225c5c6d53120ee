import type { Domain } from '#kernel/registry/registry.ts';
import { openApiDocument } from '../../query/openapi/document.ts';
import { type ApiOperation, operationsIn } from './operations.ts';

const ANYWHERE = { publicUrl: 'http://localhost', issuerUrl: 'http://localhost', requireIfMatch: false };

/** The operations of the declaration here, without asking an installation. */
export const declaredOperations = (domain: Domain): readonly ApiOperation[] =>
  operationsIn(openApiDocument({ domain, ...ANYWHERE })) ?? [];
