import { assemble } from 'annals';
import { base } from './base.ts';
import { claim } from './claim.ts';
import { spending } from './spending.ts';
import { team } from './team.ts';

export const expenses = assemble(base, [team, claim], [spending]);
