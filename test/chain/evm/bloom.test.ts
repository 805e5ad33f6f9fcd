import { afterAll, beforeAll, expect, test } from 'vitest'
import { bloomBits, bloomMayHold, parseBloom } from '../../../src/chain/evm/receipts.ts'
import { topicOf, transferTopic } from '../../../src/chain/evm/transfer-log.ts'
import { parseAddress } from '../../../src/core/asset.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { deployToken } from '../../support/test-token.ts'

let anvil: Anvil
beforeAll(async () => {
  anvil = await startAnvil()
})
afterAll(() => anvil.stop())

test('the filter of a real block may hold what its logs hold, and nothing else that was tried', async () => {
  const token = await deployToken(anvil, 'USDC')
  const { logsBloom } = await anvil.client.getBlock()
  const bloom = parseBloom(logsBloom)
  const recipient = topicOf(parseAddress('evm', rich.address))
  const outsider = topicOf(parseAddress('evm', `0x${'5a'.repeat(20)}`))
  const held = [token.address, transferTopic, recipient, outsider].map((value) =>
    bloomMayHold(bloom, bloomBits(value)),
  )
  expect(held).toEqual([true, true, true, false])
})

test('a chain that keeps no filter accuses nobody', () => {
  expect(bloomMayHold(parseBloom('0x'), bloomBits(transferTopic))).toBe(false)
})
