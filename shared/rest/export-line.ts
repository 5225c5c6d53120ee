import * as z from 'zod';

/**
 * A line of an export, for the description of the interface; `proof/export/` checks each
 * kind of line.
 */
export const ExportLine = z
  .object({
    specversion: z.literal('1.0'),
    id: z.uuid(),
    source: z
      .string()
      .meta({ description: 'The log.', examples: ['urn:uuid:6f9619ff-8b86-4011-b42d-00c04fc964ff'] }),
    type: z.string().meta({ examples: ['article.published', 'log.exported'] }),
    subject: z
      .string()
      .exactOptional()
      .meta({ description: 'The stream.', examples: ['article-8001'] }),
    time: z.iso.datetime(),
    datacontenttype: z.literal('application/json'),
    sequence: z.string().exactOptional().meta({
      description: 'The position with leading zeros, so that these strings sort like the positions.',
    }),
    streamversion: z
      .int()
      .positive()
      .exactOptional()
      .meta({ description: 'Of the stream, with this event.' }),
    recordedtime: z.iso
      .datetime()
      .exactOptional()
      .meta({ description: 'When the server of the log stored it.' }),
    metadata: z
      .string()
      .exactOptional()
      .meta({ description: 'Actor and origin of the event, as JSON text.' }),
    data: z.record(z.string(), z.json()),
  })
  .meta({ id: 'ExportLine' });
