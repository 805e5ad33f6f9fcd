import type { ScanRequest, ScanResult, StagedTransfer } from '../../src/chain/types.ts'
import type { NetworkReader } from '../../src/jobs/chain/scan.ts'
import { base, payment } from './evidence.ts'

export type Script = Omit<Partial<ScanResult>, 'cursor'> & { final: bigint; hash?: string }

/** A reader that answers one scan as it is told, and notes what it was asked. */
export function scriptedReader(
  asked: ScanRequest[],
  { final, hash = `0x${final}`, ...result }: Script,
): NetworkReader {
  return {
    network: base,
    checkIdentity: () => Promise.resolve(),
    heightAt: () => Promise.resolve(null),
    readRange: () => Promise.reject(new Error('nothing is to be read beside the scan')),
    scan(request) {
      asked.push(request)
      const cursor = {
        final: { height: final, hash },
        seenHeight: final,
        trail: [{ height: 1n, hash: '0x1' }],
      }
      return Promise.resolve({
        transfers: [],
        movements: [],
        proved: [],
        dissent: [],
        cursor,
        headHeight: final + 2n,
        rewoundTo: null,
        more: false,
        ...result,
      })
    },
  }
}

/** A transfer as readers tell it: the payment of the made-up world. */
export function readTransfer(changes: Partial<StagedTransfer> = {}): StagedTransfer {
  const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()
  return { ...facts, stage: 'final', ...changes }
}
