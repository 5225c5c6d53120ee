import { describeVerifying } from '../../test/contracts/verify-contract.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';

describeVerifying('PostgreSQL', inTheDatabase);
