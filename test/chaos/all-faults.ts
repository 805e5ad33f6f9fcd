import type { Fault } from './fault.ts'
import { daemonKilled } from './faults/f01-daemon-killed.ts'
import { workerKilled } from './faults/f02-worker-killed.ts'
import { workerStopped } from './faults/f03-worker-stopped.ts'
import { postgresLost } from './faults/f04-postgres-lost.ts'
import { cutBehindCommit } from './faults/f05-cut-behind-commit.ts'
import { redisLost } from './faults/f06-redis-lost.ts'
import { queueSpoiled } from './faults/f07-queue-spoiled.ts'
import { clockStepped } from './faults/f08-clock-stepped.ts'
import { webhooks } from './faults/f09-webhooks.ts'
import { polls } from './faults/f10-poll.ts'
import { historyLost } from './faults/f11-history-lost.ts'
import { reorgs } from './faults/f11-reorg.ts'
import { finality } from './faults/f12-finality.ts'
import { rpcLies } from './faults/f13-rpc-lies.ts'
import { badAnswers } from './faults/f14-bad-answers.ts'
import { solanaLies } from './faults/f15-solana.ts'
import { lookAlikes } from './faults/f16-look-alikes.ts'
import { secrets } from './faults/f17-secrets.ts'
import { signatures } from './faults/f17-signatures.ts'
import { bodies } from './faults/f18-bodies.ts'
import { slowClients } from './faults/f19-slow-clients.ts'
import { smuggling } from './faults/f19-smuggling.ts'
import { falseDeposits } from './faults/f20-false-deposits.ts'
import { misspelt } from './faults/f21-settings.ts'
import { stopped } from './faults/f21-stop.ts'
import { versions } from './faults/f21-versions.ts'
import { ledgerAttacked } from './faults/f22-ledger.ts'
import { twoOwnersOfACursor } from './faults/f23-two-owners.ts'
import { blockedOutput } from './faults/f24-blocked-output.ts'
import { scrapes } from './faults/f24-scrapes.ts'
import { queueSchema } from './faults/f26-queue-schema.ts'
import { eventsSent } from './faults/f29-events.ts'

/** The deck from which a seed draws. */
export const allFaults: readonly Fault[] = [
  ...daemonKilled,
  ...workerKilled,
  ...workerStopped,
  ...postgresLost,
  ...cutBehindCommit,
  ...redisLost,
  ...queueSpoiled,
  ...clockStepped,
  ...webhooks,
  ...polls,
  historyLost,
  ...reorgs,
  finality,
  ...rpcLies,
  ...badAnswers,
  solanaLies,
  lookAlikes,
  ...secrets,
  ...signatures,
  ...bodies,
  ...slowClients,
  ...smuggling,
  falseDeposits,
  misspelt,
  stopped,
  ...versions,
  ledgerAttacked,
  ...twoOwnersOfACursor,
  blockedOutput,
  ...scrapes,
  ...queueSchema,
  ...eventsSent,
]
