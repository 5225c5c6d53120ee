import { beforeEach, inject } from 'vitest';

// Without them these suites would only repeat those on PostgreSQL alone.
beforeEach(({ skip }) => {
  skip(inject('kafkaBroker') === undefined, 'the engines for scale cannot be here');
});
