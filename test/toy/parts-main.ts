import { EVERY_PART } from '../../parts.ts';
import { servedBy } from '../../served.ts';
import { start } from '../../start.ts';

/** The domain of DOMAIN_FILE, with the parts that PARTS names. */
const names = (process.env.PARTS ?? '').split(' ');
await start({
  ...servedBy(process.env.DOMAIN_FILE ?? ''),
  parts: EVERY_PART.filter(({ name }) => names.includes(name)),
});
