import { channel } from 'node:diagnostics_channel'

/**
 * Places at which a process that dies there leaves the world in a state of its own. Named here, so that runs that kill
 * processes can say where.
 */
export type FailpointName =
  /** A webhook is read to its end, and not verified. */
  | 'intake.received'
  /** A statement that runs all the time was sent, and is not answered: in an intake, that of the group commit. */
  | 'statement.sent'
  /** Webhooks are committed, and not answered. */
  | 'intake.committed'
  /** A webhook is answered with 202, and nobody was woken. */
  | 'intake.answered'
  | 'sweep.began'
  /** A batch and all that is known beside it are read, and nothing is decided. */
  | 'apply.read'
  /** Deposits, journals and mismatches of a batch are written, and not committed. */
  | 'apply.in_transaction'
  /** A batch is committed, and its job has not ended. */
  | 'apply.committed'
  /** A network is read on, and nothing is written. */
  | 'scan.read'
  /** What was found on a network is written, the cursor has not moved, and nothing is committed. */
  | 'scan.in_transaction'
  /** Pages are read and kept, and the cursor has not moved. */
  | 'poll.read'
  /** The poll's cursor has moved, and that is not committed. */
  | 'poll.in_transaction'
  /** The statements of a migration ran, and are not committed. */
  | 'migrate.in_transaction'

const reached = channel('depositd.failpoint')

/**
 * Tells whoever listens in this process that it came here, before it goes on. The program itself never listens: there is
 * no setting and no request by which anybody could make it die.
 */
export function reach(name: FailpointName): void {
  if (reached.hasSubscribers) reached.publish(name)
}
