import { Fault } from '../core/errors.ts'
import { type Keyring, liquidityBranch } from './keyring/keyring.ts'
import type { NetworkClient, NetworkReadPosition } from './network/port.ts'
import type { ServiceDatabase } from './tables.ts'

/**
 * Stores the start position before any address of the network is handed out. The service cannot spend from addresses of
 * another seed.
 * @throws Fault `settings_bad`, `remote_failed`
 */
export async function openStream(
  db: ServiceDatabase,
  keyring: Keyring,
  network: NetworkClient,
): Promise<void> {
  const { name, family } = network.settings
  const liquidityAddress = keyring.address(family, liquidityBranch)
  const stored = await db
    .selectFrom('service.stream')
    .selectAll()
    .where('network', '=', name)
    .executeTakeFirst()
  if (stored === undefined) {
    const { finalHeight, finalHash, seenHeight, seenHash } = await network.start()
    const row = {
      final_height: finalHeight,
      final_hash: finalHash,
      seen_height: seenHeight,
      seen_hash: seenHash,
    }
    await db
      .insertInto('service.stream')
      .values({ network: name, liquidity_address: liquidityAddress, ...row })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  } else if (stored.liquidity_address !== liquidityAddress) {
    const fault =
      'the database of the service was created with another seed; use that seed, or another database'
    throw new Fault('settings_bad', { faults: [fault] })
  }
}

export async function readPosition(
  db: ServiceDatabase,
  { settings }: NetworkClient,
): Promise<NetworkReadPosition> {
  const stream = await db
    .selectFrom('service.stream')
    .selectAll()
    .where('network', '=', settings.name)
    .executeTakeFirstOrThrow()
  return {
    finalHeight: stream.final_height,
    finalHash: stream.final_hash,
    seenHeight: stream.seen_height,
    seenHash: stream.seen_hash,
  }
}
