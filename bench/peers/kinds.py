"""Writes generated tables of 22 kinds: NAME.csv is known, NAME_later.csv held out (the last periods, or a fifth of the rows).

    python kinds.py FOLDER 1

See "Other kinds of tables" in docs/results/default.md. Half of the kinds (dev) were in view when rules were changed.
"""
import sys, zlib, json, numpy as np, pandas as pd
OUT=sys.argv[1]; SEED=int(sys.argv[2]) if len(sys.argv)>2 else 1
META={}
def rs(name): return np.random.default_rng([SEED, zlib.crc32(name.encode())])
def put(name, df, target, H=0, time=None, half="dev", cov=()):
    r=rs(name+"split")
    if H:
        ts=sorted(df[time].unique()); cut=ts[-H]
        a,b=df[df[time]<cut],df[df[time]>=cut]
    else:
        m=r.random(len(df))<.2; a,b=df[~m],df[m]
    a.to_csv(f"{OUT}/{name}.csv",index=False); b.to_csv(f"{OUT}/{name}_later.csv",index=False)
    META[name]=dict(target=target,H=H,time=time,half=half,cov=list(cov),rows=len(df))
def cols(**k): return pd.DataFrame(k)
def days(n,start="2021-01-04"): return pd.date_range(start,periods=n)
def grid(*ns): return [g.ravel() for g in np.meshgrid(*[np.arange(n) for n in ns],indexing="ij")]
def ar(r,n,phi,sd,k=1):
    e=r.normal(0,sd,(k,n)); x=np.zeros((k,n)); x[:,0]=e[:,0]/np.sqrt(max(1-phi*phi,.05))
    for t in range(1,n): x[:,t]=phi*x[:,t-1]+e[:,t]
    return x
def rnd(x,d=2): return np.round(x,d)

# ---------- development
def energy(n="energy",half="dev",M=14,D=35):
    r=rs(n); T=24*D; m,t=grid(M,T); h=t%24; wd=(t//24)%7
    temp=12+8*np.sin(2*np.pi*(np.arange(T)/24-10)/60)+4*np.sin(2*np.pi*(np.arange(T)%24-9)/24)+ar(r,T,.98,.5)[0]
    size=np.exp(r.normal(3,1,M)); shape=r.normal(0,.25,(M,24)).cumsum(1); shape-=shape.mean(1)[:,None]
    heat=r.gamma(2,.01,M); we=r.normal(-.25,.2,M); dev=ar(r,T,.9,.04,M)
    y=size[m]*np.exp(.5*shape[m,h]+heat[m]*np.maximum(15-temp[t],0)+we[m]*(wd>=5)+dev[m,t]+r.normal(0,.05,len(m)))
    st=pd.date_range("2022-01-03",periods=T,freq="h")
    put(n,cols(meter=[f"M{i:02d}" for i in m],time=st[t].strftime("%Y-%m-%d %H:00"),temperature=rnd(temp[t],1),kwh=rnd(y,2)),"kwh",24,"time",half,["temperature"])
def retail(n="promo",half="dev",S=5,I=14,D=240):
    r=rs(n); s,i,t=grid(S,I,D); base=1.2+r.normal(0,.7,I)[i]+r.normal(0,.4,S)[s]+r.normal(0,.3,(S,I))[s,i]
    wk=np.array([-.2,-.2,-.1,0,.25,.4,.1]); promo=(r.random((I,D//7+1))<.15)[i,t//7]; lift=r.gamma(4,.2,I)
    lev=ar(r,D,.97,.05,I); day=r.normal(0,.07,(S,D)); mu=np.exp(base+wk[t%7]+promo*lift[i]+lev[i,t]+day[s,t]+.15*np.sin(2*np.pi*t/365))
    y=r.negative_binomial(6,6/(6+mu)); out=np.zeros((S,I,D),bool)
    for a in range(S):
        for b in range(I):
            for _ in range(r.poisson(2)): k=r.integers(D); out[a,b,k:k+r.integers(2,8)]=True
    y=np.where(out[s,i,t],0,y)
    put(n,cols(shop=[f"S{a}" for a in s],product=[f"P{a:02d}" for a in i],date=days(D)[t].strftime("%Y-%m-%d"),promo=promo.astype(int),sold=y),"sold",14,"date",half,["promo"])
def clinic(n="clinic",half="dev",S=30,W=130):
    r=rs(n); s,t=grid(S,W); size=r.normal(4,.7,S); flu=.25*np.maximum(0,np.cos(2*np.pi*(t-3)/52))
    ep=ar(r,W,.8,.06)[0]; hol=np.isin(np.arange(W)%52,[0,51,50])*-.4
    mu=np.exp(size[s]+flu+ep[t]+hol[t]+ar(r,W,.9,.05,S)[s,t]+r.normal(0,.002,S)[s]*t)
    y=r.negative_binomial(40,40/(40+mu)); w=pd.date_range("2020-01-06",periods=W,freq="7D")
    put(n,cols(site=[f"site {a:02d}" for a in s],week=w[t].strftime("%Y-%m-%d"),visits=y),"visits",6,"week",half)
def web(n="web",half="dev",P=40,D=330):
    r=rs(n); p,t=grid(P,D); lev=np.zeros((P,D))
    for a in range(P):
        for _ in range(r.poisson(2)): lev[a,r.integers(D):]+=r.normal(0,.6)
    sp=(r.random((P,D))<.01)*r.exponential(1.2,(P,D))
    for k in range(1,4): sp[:,k:]=np.maximum(sp[:,k:],sp[:,:-k]*.5**k) if k==1 else sp[:,k:]
    wk=r.normal(0,.08,(P,7))+np.array([.1,.1,.1,.05,0,-.25,-.2]); site=ar(r,D,.6,.06)[0]
    y=np.exp(r.normal(5.5,1.2,P)[p]+lev[p,t]+sp[p,t]+wk[p,t%7]+site[t]+r.normal(0,.12,len(p)))
    put(n,cols(page=[f"/p{a}" for a in p],day=days(D)[t].strftime("%Y-%m-%d"),views=r.poisson(y)),"views",14,"day",half)
def hotel(n="hotel",half="dev",N=9000,Ho=25):
    r=rs(n); h=r.integers(Ho,size=N); d=r.integers(365,size=N); lead=np.minimum(r.exponential(30,N).astype(int),200); room=r.integers(3,size=N); g=r.integers(1,5,size=N)
    seas=.35*np.sin(2*np.pi*(d-100)/365); ev=np.zeros((Ho//5,365))
    for c in range(Ho//5):
        for _ in range(8): k=r.integers(360); ev[c,k:k+4]=r.gamma(3,.12)
    city=h%(Ho//5); we=np.isin(d%7,[4,5]); bus=r.random(Ho)<.4
    z=r.normal(4.6,.35,Ho)[h]+np.array([0,.22,.55])[room]+seas*r.gamma(4,.25,Ho)[h]+ev[city,d]*(1+.4*(lead<7))+np.where(bus[h],-.15,.15)*we-.08*np.log1p(lead)*(1+bus[h])/1.5+.05*g*(room==2)
    y=np.exp(z+r.normal(0,.09,N))
    put(n,cols(hotel=[f"H{a:02d}" for a in h],arrival=days(365)[d].strftime("%Y-%m-%d"),lead_days=lead,room=np.array(["single","double","suite"])[room],guests=g,rate=rnd(y,0)),"rate",0,None,half,["lead_days","room","guests"])
def crop(n="crop",half="dev",F=300,Y=16):
    r=rs(n); f,y=grid(F,Y); k=r.random(len(f))<.7; f,y=f[k],y[k]; reg=r.integers(8,size=F); clay=r.uniform(5,50,F); ph=r.normal(6.5,.6,F); wet=r.normal(0,1,(8,Y)); var=r.integers(6,size=len(f)); n_=r.gamma(12,10,len(f))
    q=7+r.normal(0,.6,8)[reg[f]]-.003*(clay[f]-28)**2-.8*(ph[f]-6.6)**2+.9*wet[reg[f],y]*(clay[f]<25)+.35*wet[reg[f],y]+.5*r.normal(0,1,Y)[y]+.06*y+r.normal(0,.5,6)[var]+2*(1-np.exp(-n_/80))+r.normal(0,.5,F)[f]
    put(n,cols(field=[f"F{a:03d}" for a in f],year=2005+y,region=np.array(list("ABCDEFGH"))[reg[f]],clay=rnd(clay[f],1),ph=rnd(ph[f],2),variety=[f"v{a}" for a in var],nitrogen=rnd(n_,0),yield_t=rnd(np.maximum(q+r.normal(0,.6,len(f)),.1),2)),"yield_t",0,None,half,["region","clay","ph","variety","nitrogen"])
def claims(n="claims",half="dev",N=9000):
    r=rs(n); age=r.integers(18,85,N); reg=r.integers(12,size=N); veh=r.integers(30,size=N); yr=r.integers(6,size=N); km=r.gamma(3,5,N); cov=r.integers(3,size=N)
    z=6.5+r.normal(0,.25,12)[reg]+r.normal(0,.4,30)[veh]+.05*yr+.6*np.exp(-(age-18)/8)+.3*((age>70))+.02*km*(age<30)+np.array([0,.3,.8])[cov]
    put(n,cols(claim=np.arange(N)+10000,age=age,region=[f"R{a}" for a in reg],vehicle=[f"model {a}" for a in veh],year=2015+yr,km_1000=rnd(km,1),cover=np.array(["liability","part","full"])[cov],amount=rnd(np.exp(z+r.normal(0,1.1,N)),0)),"amount",0,None,half,["age","region","vehicle","year","km_1000","cover"])
def sensor(n="sensor",half="dev",S=24,T=500):
    r=rs(n); s,t=grid(S,T); k=r.random(len(s))<.7; s,t=s[k],t[k]; room=s%6; air=ar(r,T,.97,.4,6); y=20+air[room,t]*r.normal(1,.2,S)[s]+r.normal(0,1,S)[s]+.002*r.normal(0,2,S)[s]*t+1.5*np.sin(2*np.pi*(t%24)/24+r.normal(0,.3,S)[s])
    y+=np.where(r.random(len(s))<.01,r.normal(0,8,len(s)),0)+r.normal(0,.25,len(s))
    st=pd.date_range("2023-03-01",periods=T,freq="h")
    put(n,cols(sensor=[f"s{a:02d}" for a in s],time=st[t].strftime("%Y-%m-%d %H:%M"),value=rnd(y,2)),"value",0,None,half)
def spare(n="spare",half="dev",P=150,W=90):
    r=rs(n); p,t=grid(P,W); rate=np.exp(r.normal(-1.2,.9,P)); chg=np.exp(ar(r,W,.97,.12,P)); occ=r.random(len(p))<1-np.exp(-rate[p]*chg[p,t]); size=1+r.poisson(np.exp(r.normal(.3,.9,P))[p])
    w=pd.date_range("2021-01-04",periods=W,freq="7D")
    put(n,cols(part=[f"part{a:03d}" for a in p],week=w[t].strftime("%Y-%m-%d"),qty=np.where(occ,size,0)),"qty",6,"week",half)
def churn(n="churn",half="dev",P=80,T=60):
    r=rs(n); rows=[]
    shock=r.normal(0,.04,T)
    for a in range(P):
        s=r.integers(0,48); pk=r.gamma(4,5); sc=np.exp(r.normal(6,1)); dec=r.gamma(2,.03); lev=0
        for t in range(s,T):
            u=t-s; lev=.9*lev+r.normal(0,.05)
            rows.append((f"plan {a:02d}",t,sc*(1-np.exp(-(u+1)/pk))*np.exp(-dec*max(u-pk,0)+lev+shock[t])))
    d=pd.DataFrame(rows,columns=["plan","t","subscribers"]); d["month"]=pd.date_range("2019-01-01",periods=T,freq="MS")[d.t].strftime("%Y-%m"); d.subscribers=d.subscribers.round(0).astype(int)
    put(n,d[["plan","month","subscribers"]],"subscribers",4,"month",half)
def schools(n="schools",half="dev",S=120):
    r=rs(n); s,g,u,y=grid(S,4,3,6); k=r.random(len(s))<.6; s,g,u,y=s[k],g[k],u[k],y[k]; inc=r.normal(40,12,S)
    q=500+.9*(inc[s]-40)+r.normal(0,12,S)[s]+r.normal(0,8,(S,3))[s,u]+r.normal(0,5,(S,6))[s,y]+5*g+r.normal(0,6,(4,3))[g,u]+r.normal(0,4,(3,6))[u,y]; nn=r.integers(8,90,len(s))
    put(n,cols(school=[f"school {a}" for a in s],grade=g+5,subject=np.array(["math","reading","science"])[u],year=2015+y,income=rnd(inc[s],1),students=nn,score=rnd(q+r.normal(0,40,len(s))/np.sqrt(nn),1)),"score",0,None,half,["income","students"])

# ---------- test
def taxi(n="taxi",half="test",Z=18,D=35):
    r=rs(n); T=24*D; z,t=grid(Z,T); h=t%24; wd=(t//24)%7; rain=(ar(r,T,.9,.5)[0]>1.2)
    pr=r.normal(0,.35,(3,24)).cumsum(1); pr-=pr.mean(1)[:,None]; w=r.dirichlet([1,1,1],Z)
    mu=np.exp(r.normal(2.2,.9,Z)[z]+(w[z]*pr[:,h].T).sum(1)+np.where(wd>=5,.5*np.where((h<4)|(h>20),1,-.3),0)+.2*rain[t]+ar(r,T,.85,.06)[0][t]+ar(r,T,.9,.06,Z)[z,t])
    st=pd.date_range("2022-05-02",periods=T,freq="h")
    put(n,cols(zone=[f"z{a}" for a in z],hour=st[t].strftime("%Y-%m-%d %H:00"),rain=rain[t].astype(int),trips=r.poisson(mu)),"trips",24,"hour",half,["rain"])
def calls(n="calls",half="test",Q=7,D=800):
    r=rs(n); q,t=grid(Q,D); dd=days(D,"2020-01-01"); wd=dd.dayofweek.values[t]; hol=dd.strftime("%m-%d").isin(["01-01","12-25","12-26","05-01","10-03"])[t]
    after=np.r_[False,dd.strftime("%m-%d").isin(["01-01","12-26","05-01","10-03"])[:-1]][t]
    wk=np.array([.3,.1,0,0,-.05,-.9,-1.3]); mu=np.exp(r.normal(4.5,.8,Q)[q]+wk[wd]*r.normal(1,.15,Q)[q]-1.2*hol+.25*after+ar(r,D,.7,.08)[0][t]+ar(r,D,.98,.03,Q)[q,t]+.15*np.sin(2*np.pi*t/365+1)+.1*(dd.day.values[t]<=3))
    put(n,cols(queue=[f"queue {a}" for a in q],date=dd[t].strftime("%Y-%m-%d"),calls=r.negative_binomial(60,60/(60+mu))),"calls",28,"date",half)
def ratings(n="ratings",half="test",U=600,M=300,N=16000):
    r=rs(n); u=np.minimum((r.pareto(1,N)*40).astype(int),U-1); m=np.minimum(r.exponential(80,N).astype(int),M-1); k=~pd.Series(u*M+m).duplicated().values; u,m=u[k],m[k]
    g=r.integers(6,size=M); q=3.5+r.normal(0,.4,U)[u]+r.normal(0,.4,M)[m]+(r.normal(0,.35,(U,6))[u,g[m]])+(r.normal(0,.3,(U,3))[u]*r.normal(0,.8,(M,3))[m]).sum(1)
    put(n,cols(user=[f"u{a}" for a in u],recipe=[f"r{a}" for a in m],cuisine=np.array(["it","fr","th","in","mx","us"])[g[m]],stars=np.clip(np.round(q+r.normal(0,.7,len(u))),1,5).astype(int)),"stars",0,None,half,["cuisine"])
def hier(n="hier",half="test",R=4,S=6,K=5,T=54):
    r=rs(n); g,s,k,t=grid(R,S,K,T); rk=ar(r,T,.95,.05,R*K); sh=r.normal(0,.05,T)
    mu=r.normal(5,.5,R*S)[g*S+s]+r.normal(0,.8,K)[k]+r.normal(0,.2,(R*S,K))[g*S+s,k]+rk[g*K+k,t]+sh[t]+.2*np.sin(2*np.pi*(t+r.normal(0,1,K)[k])/12)+.004*t+r.normal(0,.08,len(g))
    mo=pd.date_range("2019-01-01",periods=T,freq="MS")
    put(n,cols(region=[f"reg{a}" for a in g],store=[f"st{a:02d}" for a in g*S+s],dept=[f"d{a}" for a in k],month=mo[t].strftime("%Y-%m"),revenue=rnd(np.exp(mu),0)),"revenue",4,"month",half)
def air(n="air",half="test",S=25,P=4,D=260):
    r=rs(n); s,p,t=grid(S,P,D); k=r.random(len(s))<.5; s,p,t=s[k],p[k],t[k]; x=r.uniform(0,100,(S,2)); w=ar(r,D,.8,.5,3); ws=np.exp(ar(r,D,.6,.4)[0])*3
    L=r.normal(0,.5,(P,3)); y=np.exp(r.normal(2.5,.6,P)[p]+r.normal(0,.3,S)[s]+(L[p]*w[:,t].T).sum(1)*(.6+.01*x[s,0])-.15*np.log(ws[t])*r.normal(1,.3,S)[s]+r.normal(0,.2,len(s))-.1*((t%7)>=5))
    put(n,cols(station=[f"st{a}" for a in s],pollutant=np.array(["NO2","PM10","O3","SO2"])[p],day=days(D)[t].strftime("%Y-%m-%d"),wind=rnd(ws[t],1),lat=rnd(x[s,0]/100+50,3),lon=rnd(x[s,1]/100+8,3),level=rnd(y,1)),"level",0,None,half,["wind","lat","lon"])
def homes(n="homes",half="test",N=6000):
    r=rs(n); a=r.gamma(8,14,N); rooms=np.clip((a/28+r.normal(0,.6,N)).round(),1,9); yr=r.integers(1900,2022,N); di=r.integers(40,size=N); cond=r.integers(1,6,N); fl=r.integers(0,12,N); lift=r.random(N)<.5; gar=r.integers(0,3,N)
    z=np.log(a)*.85+r.normal(0,.35,40)[di]+.06*cond+.0000600*(yr-1950)**2*(yr>1950)-.04*fl*(~lift)+.02*fl*lift+.08*gar*(r.normal(0,1,40)[di]>0)+.03*rooms
    put(n,cols(sale=np.arange(N),area=rnd(a,0),rooms=rooms.astype(int),built=yr,district=[f"D{b}" for b in di],condition=cond,floor=fl,lift=np.where(lift,"yes","no"),garages=gar,price=rnd(np.exp(z+r.normal(0,.13,N))*2000,-2)),"price",0,None,half,["area","rooms","built","district","condition","floor","lift","garages"])
def launch(n="launch",half="test",P=160,W=80):
    r=rs(n); rows=[]; wk=r.normal(0,.06,W)
    for a in range(P):
        s=0 if a<40 else r.integers(0,W-8); sc=r.normal(2.5,.8); h=r.gamma(3,6); cat=a%5; l=0
        for t in range(s,W):
            l=.9*l+r.normal(0,.08); mu=np.exp(sc+ (0 if s==0 else 1.2*np.exp(-(t-s)/h))+l+wk[t]+.2*np.sin(2*np.pi*t/52+cat)); rows.append((f"sku{a:03d}",f"cat{cat}",t,r.negative_binomial(8,8/(8+mu))))
    d=pd.DataFrame(rows,columns=["sku","category","t","units"]); d["week"]=pd.date_range("2021-03-01",periods=W,freq="7D")[d.t].strftime("%Y-%m-%d")
    put(n,d[["sku","category","week","units"]],"units",6,"week",half)
def freight(n="freight",half="test",N=9000):
    r=rs(n); o=r.integers(20,size=N); d=r.integers(20,size=N); m=r.integers(24,size=N); w=np.exp(r.normal(5,1.3,N)); x=r.uniform(0,100,(20,2)); dist=np.hypot(*(x[o]-x[d]).T)+5; car=r.integers(6,size=N)
    y=(8+.012*dist*w**.75*np.exp(r.normal(0,.15,(6,20))[car,o])*np.exp(np.cumsum(r.normal(0,.04,24))[m]))*np.exp(r.normal(0,.08,N))+15*(d<3)
    put(n,cols(origin=[f"o{a}" for a in o],destination=[f"d{a}" for a in d],month=pd.date_range("2020-01-01",periods=24,freq="MS")[m].strftime("%Y-%m"),carrier=[f"c{a}" for a in car],weight=rnd(w,0),distance=rnd(dist*10,0),cost=rnd(y,2)),"cost",0,None,half,["weight","distance","carrier"])
def river(n="river",half="test",S=16,D=500):
    r=rs(n); s,t=grid(S,D); rain=np.maximum(0,ar(r,D,.5,1,4)-.6)*6; k=r.uniform(.8,.97,S); fl=np.zeros((S,D))
    for a in range(S):
        for b in range(1,D): fl[a,b]=k[a]*fl[a,b-1]+(1-k[a])*rain[a%4,b]
    y=np.exp(r.normal(1,.7,S))[s]*(1+fl[s,t]*r.gamma(4,.5,S)[s])*np.exp(.4*np.cos(2*np.pi*t/365)+r.normal(0,.04,len(s)))
    put(n,cols(gauge=[f"g{a}" for a in s],date=days(D,"2021-06-01")[t].strftime("%Y-%m-%d"),flow=rnd(y,2)),"flow",7,"date",half)
def delivery(n="delivery",half="test",N=12000):
    r=rs(n); c=r.integers(80,size=N); z=r.integers(30,size=N); h=r.integers(9,22,N); wd=r.integers(7,size=N); it=r.poisson(3,N)+1; rain=r.integers(0,2,N); km=r.gamma(3,1.2,N)
    y=np.exp(1.8+r.normal(0,.15,80)[c]+r.normal(0,.1,30)[z]+.2*np.exp(-(h-12.5)**2/2)+.3*np.exp(-(h-18.5)**2/3)*(1+.3*(wd>=4))+.03*it)*1.3+2.2*km*(1+.3*rain)*(1+.25*((h>16)&(h<19)))
    y*=np.exp(r.normal(0,.18,N)); y+=(r.random(N)<.03)*r.exponential(30,N)
    put(n,cols(courier=[f"c{a}" for a in c],zone=[f"z{a}" for a in z],hour=h,weekday=np.array(["mon","tue","wed","thu","fri","sat","sun"])[wd],items=it,rain=rain,km=rnd(km,1),minutes=rnd(y,1)),"minutes",0,None,half,["items","rain","km"])
def monthly(n="meds",half="test",P=120,T=48):
    r=rs(n); p,t=grid(P,T); mu=np.exp(r.normal(.3,1.1,P)[p]+ar(r,T,.95,.1,P)[p,t]+.25*np.cos(2*np.pi*t/12+r.normal(0,1,P)[p])+r.normal(0,.05,T)[t]); y=r.negative_binomial(3,3/(3+mu))
    put(n,cols(drug=[f"drug{a:03d}" for a in p],month=pd.date_range("2018-01-01",periods=T,freq="MS")[t].strftime("%Y-%m"),packs=y),"packs",4,"month",half)
for f in (energy,retail,clinic,web,hotel,crop,claims,sensor,spare,churn,schools,taxi,calls,ratings,hier,air,homes,launch,freight,river,delivery,monthly): f()
json.dump(META,open(OUT+"/meta.json","w"),indent=1)
