import { inEventStoreDB } from '../engines/log-engines.ts';
import { describeVerifying } from './verify-contract.ts';

describeVerifying('EventStoreDB, by its stand-in', inEventStoreDB);
