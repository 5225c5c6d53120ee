import { viewOf } from '../registry/view-of.ts';
import { viewOperations } from '../rest/views.ts';
import { demandViews } from './demand-views.ts';

/** The steps of the assembly that only a domain with views needs. */
export const VIEWS = { viewOf, viewOperations, demandViews } as const;
