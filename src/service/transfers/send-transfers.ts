import type { Logger } from 'pino'
import { logEvent } from '../../log/log-event.ts'
import type { NetworkClient } from '../network/port.ts'
import { mapBounded } from '../running/bounded.ts'
import { describeError } from '../running/describe-error.ts'

const requestsAtOnce = 8

/** Sends stored bytes. If the node rejects them, they are sent again when their outcome is next checked. */
export async function sendTransfers(
  network: NetworkClient,
  signed: readonly { transaction: string; bytes: Uint8Array }[],
  log: Logger,
): Promise<void> {
  await mapBounded(signed, requestsAtOnce, async ({ transaction, bytes }) => {
    try {
      await network.send(bytes)
    } catch (error) {
      const problem = describeError(error)
      logEvent(log, 'transfer_not_accepted', { transaction, problem })
    }
  })
}
