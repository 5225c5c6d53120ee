import { publishing } from '#domain/publishing.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

/** The tables of the domain with which tests try the kernel. */
export const tables = tablesOf(publishing);
