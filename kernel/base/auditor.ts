/** The role that reads what administrators may read, and changes nothing, if the domain has auditors. */
export const AUDITOR = 'auditor';

/** The field of users with the last day of an auditor, in UTC. */
export const AUDITOR_UNTIL = 'auditorUntil';
