/** Another process owns the data folder. The message is meant for the person who started this one. */
export class DataDirInUse extends Error {
  readonly code = 'data_dir_in_use';

  constructor(dataDir: string, owner: string) {
    super(`The data folder ${dataDir} is in use by another Annals process${owner}: stop that one, or set DATA_DIR to another folder.`);
    this.name = 'DataDirInUse';
  }
}

/** The embedded server cannot be made or started. The message is one sentence that says what to do. */
export class EmbeddedPostgresFailed extends Error {
  readonly code = 'embedded_postgres_failed';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresFailed';
  }
}
