import { createHmac } from 'node:crypto'
import {
  customerName,
  depositOf,
  exactNumber,
  fiatValue,
  inUnits,
  isSame,
  keySetting,
  noBatch,
  numberFrom,
  type OurChannel,
  type OurDeposit,
  type OurEvent,
  type OurStatus,
  type OurWallet,
  type Shape,
  sizeOf,
} from './shape.ts'

const name = 'quay'

/** Camel case, flat with prefixes, numbered pages, chains by number, whole units as numbers, milliseconds. */
export const quay: Shape = {
  name,
  title: 'numbered pages, whole units as JSON numbers, milliseconds; HMAC of method, URL, body and time',
  auth: { scheme: 'header', header: 'X-Api-Token', secret: keySetting(name) },
  isAuthorized: ({ headers }, key) => isSame(headers['x-api-token'], key),
  async answer({ url: { pathname, searchParams } }, service) {
    const items =
      pathname === '/api/deposits'
        ? (await service.all('deposits')).map(deposit)
        : pathname === '/api/collectionPoints'
          ? (await service.all('channels')).map(collectionPoint)
          : pathname === '/api/treasuryAccounts'
            ? (await service.all('wallets')).map(treasuryAccount)
            : null
    return items && { body: pageOf(items, searchParams) }
  },
  specification: {
    path: '/swagger.json',
    calls: {
      '/api/deposits': ['pageNumber', 'pageSize'],
      '/api/collectionPoints': ['pageNumber', 'pageSize'],
      '/api/treasuryAccounts': ['pageNumber', 'pageSize'],
    },
  },
  batch: noBatch,
  payload: ([event]) => (event === undefined ? {} : message(event)),
  sign({ url, body, at }, key) {
    const time = at.getTime().toString()
    const proof = createHmac('sha256', key).update(`POST${url}${body}${time}`).digest('base64')
    return { 'X-Quay-Signature': proof, 'X-Quay-Request-Timestamp': time, 'X-Quay-Trace': `q-${time}` }
  },
  webhookSecret: (key) => key,
}

function pageOf(items: readonly object[], query: URLSearchParams): object {
  const pageSize = sizeOf(query.get('pageSize'), { usual: 25, max: 100 })
  const pageNumber = sizeOf(query.get('pageNumber'), { usual: 1, max: 100_000 })
  return {
    pageNumber,
    pageSize,
    totalPages: Math.ceil(items.length / pageSize),
    items: items.slice((pageNumber - 1) * pageSize, pageNumber * pageSize),
  }
}

const chainIds: Readonly<Record<string, number>> = { mainnet: 1, base: 8453, arbitrum: 42_161, solana: 101 }

const stages: Readonly<Record<OurStatus, string>> = {
  detected: 'Incoming',
  confirmed: 'Secured',
  converting: 'Exchanging',
  forwarding: 'Sending',
  settled: 'Delivered',
  credited: 'Booked',
  held: 'OnHold',
  refunding: 'RefundRunning',
  refunded: 'Returned',
  failed: 'Rejected',
}

function deposit({ source, destination, fee, ...record }: OurDeposit): object {
  return {
    depositNumber: record.id.replace('dep_', 'QD-'),
    ledgerRow: numberFrom(record.id, 400_000),
    holderKind: record.owner.type === 'channel' ? 'CollectionPoint' : 'TreasuryAccount',
    holderRef: record.owner.id,
    holderName: customerName(record.owner.id),
    stage: stages[record.status],
    stageReason: record.reason ?? '',
    ...inbound(source),
    ...outbound(destination),
    feeAmount: unitsOf(fee?.amount, destination),
    feeSymbol: fee?.asset ?? null,
    exchangeRate: record.rate && exactNumber(record.rate),
    ...refunded(record.refund, source),
    createdAt: Date.parse(record.created_at),
    modifiedAt: Date.parse(record.updated_at),
  }
}

function inbound(source: OurDeposit['source']): object {
  return {
    inboundChainId: chainIds[source.network],
    inboundAddress: source.address,
    inboundSymbol: source.asset,
    inboundTokenAddress: source.contract ?? '',
    inboundAmount: unitsOf(source.amount, source),
    inboundAmountEur: Number(fiatValue(source.amount, source)),
    inboundTxId: source.transaction ?? '',
    inboundLogIndex: source.index,
    inboundFromAddress: source.sender ?? '',
    inboundBlock: Number(source.block),
    inboundMinedAt: Date.parse(source.time),
  }
}

function outbound(destination: OurDeposit['destination']): object {
  return {
    outboundChainId: destination.network && chainIds[destination.network],
    outboundAddress: destination.address,
    outboundSymbol: destination.asset,
    outboundTokenAddress: destination.contract ?? '',
    outboundAmount: unitsOf(destination.amount, destination),
    outboundTxId: destination.transaction ?? '',
    outboundMinedAt: millisecondsOf(destination.time),
  }
}

function refunded(refund: OurDeposit['refund'], source: OurDeposit['source']): object {
  return {
    refundAddress: refund?.address ?? '',
    refundAmount: unitsOf(refund?.amount, source),
    refundTxId: refund?.transaction ?? '',
    refundMinedAt: millisecondsOf(refund?.time),
  }
}

function unitsOf(base: string | null | undefined, { decimals }: { decimals: number }): unknown {
  return base ? exactNumber(inUnits(base, decimals)) : null
}

function millisecondsOf(time: string | null | undefined): number | null {
  return time ? Date.parse(time) : null
}

function collectionPoint({ id, addresses, ...rule }: OurChannel): object {
  return {
    pointRef: id,
    pointName: customerName(id),
    receivingAddresses: addresses.map(placed),
    targetChainId: chainIds[rule.forward_network],
    targetSymbol: rule.forward_asset_symbol,
    targetAddress: rule.forward_recipient,
  }
}

function treasuryAccount({ stable_wallet: { id, deposit_addresses: addresses } }: OurWallet): object {
  return { accountRef: id, accountName: customerName(id), receivingAddresses: addresses.map(placed) }
}

function placed({ network, address }: { network: string; address: string }): object {
  return { chainId: chainIds[network], receivingAddress: address }
}

function message(event: OurEvent): object {
  const record = depositOf(event)
  return {
    messageId: event.id.replace('evt_', 'qm-'),
    messageType: record === null ? 'ConnectionCheck' : 'DepositChanged',
    emittedAt: Date.parse(event.created_at),
    body: record === null ? null : deposit(record),
  }
}
