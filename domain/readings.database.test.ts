import { describeReadings } from '../test/readings.ts';
import { publishing } from './publishing.ts';

describeReadings(publishing);
