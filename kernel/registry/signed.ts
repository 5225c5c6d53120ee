import { oncePer } from '../base/once-per.ts';
import { agentRequestsOf } from './confirms.ts';
import type { CommandInfo, Domain, Kind } from './registry.ts';

/** Whether persons sign commands of this domain. */
export const hasSigned = oncePer(({ kinds }: Domain): boolean =>
  Object.values(kinds).some(({ commands }) =>
    Object.values(commands).some(({ signed }) => signed !== undefined),
  ),
);

/** Whether a person signs this command, always or as the approval of a request for one that is signed. */
export const maySign = ({ confirms = [] }: Kind, { name, signed }: CommandInfo): boolean =>
  signed !== undefined || (name === APPROVE && confirms.some((each) => each.signed !== undefined));

/** Of the requests of agents. */
const APPROVE = 'approve';

/** Whether the domain asks if a person has signed in: to confirm commands, to sign them, or to release holds. */
export const asksForPersons = (domain: Domain): boolean =>
  agentRequestsOf(domain) !== undefined || hasSigned(domain) || hasHolds(domain);

const hasHolds = oncePer(({ kinds }: Domain): boolean => Object.values(kinds).some(({ hold }) => hold));
