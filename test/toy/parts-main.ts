import { ALL_PARTS } from '../../parts.ts';
import { start } from '../../start.ts';
import { helpdesk } from './helpdesk.ts';

/** The helpdesk, with the parts that PARTS names. */
const names = (process.env.PARTS ?? '').split(' ');
await start({ domain: async () => helpdesk, parts: ALL_PARTS.filter(({ name }) => names.includes(name)) });
