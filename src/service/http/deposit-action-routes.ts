import { z } from 'zod'
import type { Address } from '../../core/asset.ts'
import { recordWriter } from '../deposits/record.ts'
import { refundDeposit } from '../deposits/refund-deposit.ts'
import { releaseDeposit } from '../deposits/release-deposit.ts'
import type { DepositStatus } from '../tables.ts'
import { depositRecord } from './deposit-schema.ts'
import { depositId, findDeposit, noDeposit } from './find-deposit.ts'
import { refusal } from './problem.ts'
import { type Api, defineRoute } from './route.ts'
import { readNetwork, readRecipient, refuseOwnAddress } from './stated.ts'

const release = defineRoute({
  method: 'post',
  path: '/v1/proxies/deposits/{id}/release',
  scope: 'write',
  summary: 'Release a held deposit, whatever its policy says',
  origin: 'ours',
  parameters: depositId,
  status: 200,
  answer: depositRecord,
  refusals: ['not_found', 'state_conflict'],
  run: async ({ db, deposits, networks }, { parameters: { id } }) => {
    const outcome = await releaseDeposit({ db, deposits }, id)
    if (outcome.kind === 'not_found') throw noDeposit(id)
    if (outcome.kind === 'wrong_state') throw wrongState(outcome.status, 'only what is held is released')
    return recordWriter(networks)(outcome.deposit)
  },
})

const refundRequest = z
  .strictObject({ address: z.string().min(1).max(128).optional() })
  .meta({ id: 'RefundRequest', description: 'Without an address it goes back to its sender.' })

const refund = defineRoute({
  method: 'post',
  path: '/v1/proxies/deposits/{id}/refund',
  scope: 'write',
  summary: 'Refund a deposit, whole and on its own network',
  origin: 'ours',
  parameters: depositId,
  body: refundRequest.optional(),
  status: 200,
  answer: depositRecord,
  refusals: ['not_found', 'network_unknown', 'address_invalid', 'state_conflict', 'sender_unknown'],
  run: async (api, { parameters: { id }, body }) => {
    const to = body?.address === undefined ? null : await readReceiver(api, id, body.address)
    const outcome = await refundDeposit({ db: api.db, deposits: api.deposits }, { id, to })
    if (outcome.kind === 'not_found') throw noDeposit(id)
    if (outcome.kind === 'wrong_state') {
      throw wrongState(outcome.status, 'only what is confirmed or held goes back')
    }
    if (outcome.kind === 'sender_unknown') {
      throw refusal('sender_unknown', 'the chain does not tell who paid: name an address to refund to')
    }
    return recordWriter(api.networks)(outcome.deposit)
  },
})

export const depositActionRoutes = [release, refund]

/** An address on the network of the payment. */
async function readReceiver({ db, networks, owners }: Api, id: string, text: string): Promise<Address> {
  const { network } = await findDeposit(db, id)
  const stated = { text, place: '/address' }
  const address = readRecipient(readNetwork(networks, { text: network, place: '' }), stated)
  if (await owners.isOwnAddress(address)) throw refuseOwnAddress(stated)
  return address
}

function wrongState(status: DepositStatus, rule: string) {
  return refusal('state_conflict', `the deposit is ${status}, and ${rule}`)
}
