import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'

/** Connects to a node that holds the keys of its own accounts and mines on request. */
export function openEvmClient(url: string, chainId: number) {
  const chain = defineChain({
    id: chainId,
    name: `local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  // No retries: a payment or a block whose response is late would be made twice.
  const transport = http(url, { timeout: 60_000, retryCount: 0 })
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

export type EvmClient = ReturnType<typeof openEvmClient>
