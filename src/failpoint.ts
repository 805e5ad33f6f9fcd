import { channel } from 'node:diagnostics_channel'

/**
 * Named points in the program. A process killed at one of them leaves a distinct state behind; tests that kill
 * processes use these names.
 */
export type FailpointName =
  /** A webhook is read completely, but not verified. */
  | 'intake.received'
  /** A frequent statement is sent, but not answered. In the intake this is the statement of the group commit. */
  | 'statement.sent'
  /** Webhooks are committed, but not answered. */
  | 'intake.committed'
  /** A webhook is answered with 202, but no worker is notified. */
  | 'intake.answered'
  | 'sweep.began'
  /** A batch and all related data are read, but nothing is decided. */
  | 'apply.read'
  /** Deposits, journals and mismatches of a batch are written, but not committed. */
  | 'apply.in_transaction'
  /** A batch is committed, but its job has not ended. */
  | 'apply.committed'
  /** New blocks of a network are read, but nothing is written. */
  | 'scan.read'
  /** The findings of a scan are written; the cursor has not moved, and nothing is committed. */
  | 'scan.in_transaction'
  /** Pages are read and stored, but the cursor has not moved. */
  | 'poll.read'
  /** The poll's cursor has moved, but that is not committed. */
  | 'poll.in_transaction'
  /** Events have their numbers, but are not committed. */
  | 'events.in_transaction'
  /** Events are numbered, but no sender is woken. */
  | 'events.numbered'
  /** An endpoint answered to an event, but that is not stored. */
  | 'events.answered'
  /** A receiver has a notification, but it is not noted as sent. */
  | 'notify.sent'
  /** The statements of a migration ran, but are not committed. */
  | 'migrate.in_transaction'

const reached = channel('depositd.failpoint')

/**
 * Notifies subscribers in this process that execution reached this point, before it continues. The program itself never
 * subscribes: no setting and no request can make it exit here.
 */
export function reach(name: FailpointName): void {
  if (reached.hasSubscribers) reached.publish(name)
}
