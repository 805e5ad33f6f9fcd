import { z } from 'zod'
import type { Family, NetworkReading } from '../core/asset.ts'

/** Fields that define how a network is read. */
export const readingFields = {
  /** Number of nodes that must agree on what will be booked. */
  quorum: z.int().min(1).max(10).default(1),
  finality: z
    .strictObject({
      tag: z.enum(['finalized', 'safe']).optional(),
      depth: z.int().min(1).max(100_000).optional(),
      bookOnDepth: z.boolean().optional(),
    })
    .prefault({ tag: 'finalized' }),
  traces: z.enum(['always', 'on_difference', 'never']).default('on_difference'),
  /** Solana: identifies the cluster, as the chain id identifies an EVM network. */
  genesisHash: z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'is no hash in base58')
    .optional(),
}

type ReadingEntry = z.output<z.ZodObject<typeof readingFields>> & { family: Family }
type ReadingIssueSink = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }

/** Checks the fields against each other. */
export function checkReading(entry: ReadingEntry, context: ReadingIssueSink): void {
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
  if (entry.family === 'evm' && entry.genesisHash !== undefined) {
    refuse(['genesisHash'], 'is of Solana; an EVM network is known by its chainId')
  }
  const { tag, depth, bookOnDepth } = entry.finality
  if ((tag === undefined) === (depth === undefined)) {
    refuse(['finality'], 'names either a tag or a depth')
  } else if (tag !== undefined && bookOnDepth !== undefined) {
    refuse(['finality', 'bookOnDepth'], 'goes with a depth only')
  } else if (depth !== undefined && bookOnDepth !== true) {
    refuse(
      ['finality', 'depth'],
      'proves nothing by itself, for a chain can replace more blocks than any number; set bookOnDepth: true beside it if what lies that deep is to be booked all the same',
    )
  }
  if (entry.family === 'solana' && tag !== 'finalized') {
    refuse(['finality'], 'on Solana is the finalized commitment, and nothing else')
  }
}

/** Valid only for an entry without faults. */
export function readingOf({ quorum, finality, traces }: ReadingEntry): NetworkReading {
  const { tag = 'finalized', depth } = finality
  return {
    quorum,
    finality: depth === undefined ? { kind: 'tag', tag } : { kind: 'depth', blocks: depth },
    traces,
  }
}
