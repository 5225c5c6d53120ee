import { StartRefused } from '#kernel/base/start-refused.ts';

/** Another process owns the data folder. */
export class DataDirInUse extends StartRefused {
  readonly code = 'data_dir_in_use';

  constructor(dataDir: string, owner: string) {
    super(
      `The data folder ${dataDir} is in use by another Annals process${owner}: stop that one, or set DATA_DIR to another folder.`,
    );
    this.name = 'DataDirInUse';
  }
}

/** The embedded server cannot be created or started. */
export class EmbeddedPostgresFailed extends StartRefused {
  readonly code = 'embedded_postgres_failed';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresFailed';
  }
}

/** PostgreSQL has no room for its next file, and stops rather than lose data. */
export class DiskFull extends EmbeddedPostgresFailed {
  constructor(pgdata: string) {
    super(`The disk of ${pgdata} is full, so the embedded PostgreSQL does not start: free some space.`);
    this.name = 'DiskFull';
  }
}
