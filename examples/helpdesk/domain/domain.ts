import { assemble } from 'annals';
import { base } from './base.ts';
import { months } from './months.ts';
import { team } from './team.ts';
import { ticket } from './ticket.ts';
import { workload } from './workload.ts';

export const helpdesk = assemble(base, [team, ticket], [workload, months]);
