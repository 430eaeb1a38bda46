"""How far gradients of a training step under PyTorch's bfloat16 autocast are from those in float32, on a residual network of the
size of the bundled resnet8 with random weights: the scale of the bounds in tests/runtime/autocast.rs.

    python autocast_distance.py      (needs PyTorch; run with 2.15 on a Zen 4)

Prints, for three seeds, the distance over the norm of each gradient. Seen: weights of convolutions 0.11 to 0.25, offsets of
normalisations up to 0.39, those of the data's normalisation up to 2, the classifier below 0.01.
"""
import torch, torch.nn as nn, torch.nn.functional as F, math
torch.manual_seed(0); torch.set_num_threads(1)
def bn(c): return nn.BatchNorm2d(c,eps=2e-5)
class U(nn.Module):
    def __init__(s,i,o,st,dim):
        super().__init__(); s.a=bn(i); s.c1=nn.Conv2d(i,o,3,st,1,bias=False); s.b=bn(o); s.c2=nn.Conv2d(o,o,3,1,1,bias=False); s.sc=None if dim else nn.Conv2d(i,o,1,st,bias=False)
    def forward(s,x):
        h=F.relu(s.a(x)); y=s.c2(F.relu(s.b(s.c1(h)))); return y+(x if s.sc is None else s.sc(h))
class N(nn.Module):
    def __init__(s):
        super().__init__(); s.bd=bn(1); s.c0=nn.Conv2d(1,16,3,1,1,bias=False); s.u=nn.Sequential(U(16,16,1,True),U(16,32,2,False),U(32,64,2,False)); s.f=bn(64); s.fc=nn.Linear(64,10)
    def forward(s,x): 
        x=s.u(s.c0(s.bd(x))); return s.fc(F.relu(s.f(x)).mean((2,3)))
for seed in range(3):
    torch.manual_seed(seed); net=N()
    for p in net.parameters():
        if p.dim()>1:
            fi=p[0].numel(); fo=p.shape[0]*(p[0,0].numel() if p.dim()==4 else 1); a=math.sqrt(3*2.0/((fi+fo)/2))
            nn.init.uniform_(p,-a,a)
    i=torch.arange(32*784).float(); x=torch.sin((i%784)*0.013+(i//784)).view(32,1,28,28); y=torch.arange(32)%10
    def g(amp):
        net.zero_grad()
        with torch.autocast('cpu',dtype=torch.bfloat16,enabled=amp): l=F.cross_entropy(net(x).float(),y,reduction='sum')
        l.backward(); return {k:p.grad.clone() for k,p in net.named_parameters()}
    a,b=g(False),g(True)
    print({k:round(float((a[k]-b[k]).norm()/a[k].norm()),3) for k in a})
