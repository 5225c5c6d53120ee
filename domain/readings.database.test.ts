import { describeReadings } from '../test/readings.ts';
import { describeTold } from '../test/told.ts';
import { publishing } from './publishing.ts';

describeReadings(publishing);
describeTold(publishing);
