import { publishing } from '#domain/publishing.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

/** Of the domain that tests try the kernel with. */
export const tables = tablesOf(publishing);
