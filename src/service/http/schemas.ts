import { z } from 'zod'
import { timeText } from '../../http/read-request.ts'
import type { DepositRecord } from '../deposits/record.ts'
import type { WithdrawalRecord } from '../transfers/withdrawal-record.ts'

/** Chosen by the caller. Safe in a path, a log line and a spreadsheet. */
export const idText = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/, {
  error: 'must be 1 to 128 letters, digits or . _ : @ -, and begin with a letter or digit',
})

/** A string, because JSON numbers lose precision. */
export const baseUnits = z.string().regex(/^(?:0|[1-9]\d*)$/)

export const depositAddressSchema = z
  .strictObject({ network: z.string(), address: z.string() })
  .meta({ id: 'DepositAddress' })

const time = z.iso.datetime()
const decimals = z.int().min(0)

export const depositRecord = z
  .strictObject({
    id: z.string(),
    owner: z.strictObject({ type: z.enum(['channel', 'stable_wallet']), id: idText }),
    status: z.enum([
      'detected',
      'confirmed',
      'converting',
      'forwarding',
      'settled',
      'credited',
      'held',
      'refunding',
      'refunded',
      'failed',
    ]),
    reason: z
      .enum([
        'vanished',
        'too_small',
        'policy_hold',
        'below_minimum',
        'asset_denied',
        'sender_denied',
        'sender_unknown',
        'requested',
        'undeliverable',
        'price_missing',
      ])
      .nullable(),
    source: z.strictObject({
      network: z.string(),
      address: z.string(),
      asset: z.string(),
      contract: z.string().nullable(),
      decimals,
      amount: baseUnits,
      transaction: z.string(),
      index: z.string(),
      sender: z.string().nullable(),
      block: baseUnits,
      time,
    }),
    destination: z.strictObject({
      network: z.string().nullable(),
      address: z.string(),
      asset: z.string(),
      contract: z.string().nullable(),
      decimals,
      amount: baseUnits.nullable(),
      transaction: z.string().nullable(),
      time: time.nullable(),
    }),
    fee: z.strictObject({ asset: z.string(), amount: baseUnits }).nullable(),
    rate: z.string().nullable(),
    refund: z
      .strictObject({
        address: z.string(),
        amount: baseUnits,
        transaction: z.string().nullable(),
        time: time.nullable(),
      })
      .nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Deposit' }) satisfies z.ZodType<DepositRecord>

export const withdrawal = z
  .strictObject({
    id: idText,
    status: z.enum(['requested', 'sending', 'settled', 'failed']),
    network: z.string(),
    recipient: z.string(),
    asset: z.string(),
    decimals: z.int(),
    amount: baseUnits,
    transaction: z.string().nullable(),
    settled_at: timeText.nullable(),
    created_at: timeText,
    updated_at: timeText,
  })
  .meta({ id: 'Withdrawal' }) satisfies z.ZodType<WithdrawalRecord>
